// Keys for lists and for answering: j and k choose a row of the tables that are marked so, Enter follows its link (the browser's own
// doing, since the link has the focus), c goes to the answer, u to the list, ? shows all. Nothing here is reached by keys alone.
(() => {
  "use strict";
  const words = [
    ["j, k", "down and up the rows"],
    ["Enter", "open the row"],
    ["c", "answer"],
    ["u", "back to the list"],
    ["?", "these keys"],
    ["Esc", "close this"],
  ];
  const rows = () => [...document.querySelectorAll("table[data-rows] tbody tr")].map((row) => row.querySelector("a")).filter(Boolean);

  function step(by) {
    const links = rows();
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by));
    links[next].focus();
    links[next].scrollIntoView({ block: "nearest" });
  }

  function help() {
    let dialog = document.querySelector("dialog.keys");
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.className = "keys";
      dialog.setAttribute("aria-label", "Keys");
      const list = document.createElement("dl");
      for (const [key, what] of words) {
        list.append(Object.assign(document.createElement("dt"), { textContent: key }), Object.assign(document.createElement("dd"), { textContent: what }));
      }
      dialog.append(Object.assign(document.createElement("h2"), { textContent: "Keys" }), list);
      document.body.append(dialog);
    }
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, figure")) return;
    const first = document.querySelector("[data-first]");
    const up = document.querySelector("[data-up]");
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "?") help();
    else if (event.key === "c" && first) first.focus();
    else if (event.key === "u" && up) up.click();
    else return;
    event.preventDefault();
  });
})();
