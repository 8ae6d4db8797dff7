// "How was this measured?": a number that is a link of class "how" opens the command that measures it again, with all that it
// depends on, beside the page instead of leaving it. Without this script the same link leads to the Run, where the command stands too.
(() => {
  "use strict";
  const words = [["subject", "Subject"], ["revision", "Revision"], ["build", "Build"], ["workload", "Workload"], ["parameters", "Parameters"], ["seed", "Seed"], ["data_hash", "Data hash"], ["model", "Model"], ["quantisation", "Quantisation"], ["parallelism", "Parallelism"], ["device_class", "Device class"], ["clock_policy", "Clock policy"]];
  const make = (tag, properties, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };
  const address = (href) => {
    const { pathname, search } = new URL(href);
    return pathname.startsWith("/series/") ? `/api/v1${pathname.replace(/how$/, "reproduce")}${search}` : `/api/v1${pathname}/reproduce`;
  };
  const said = (value) => (value !== null && typeof value === "object" ? Object.entries(value).map(([name, one]) => `${name} = ${said(one)}`).join(", ") : String(value ?? ""));

  function copy(command) {
    const button = make("button", { type: "button", textContent: "Copy" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select it and copy it by hand";
      }
    });
    return button;
  }

  function show(link, recipe) {
    const dialog = make("dialog", { className: "how" });
    dialog.setAttribute("aria-labelledby", "how");
    const head = make("h2", { id: "how", textContent: `${link.textContent.trim()}: measured again by` });
    const facts = make("tbody", {});
    for (const [name, word] of words) {
      const value = said(recipe.made_of[name]) || (name === "data_hash" ? "none" : "");
      if (value) facts.append(make("tr", {}, make("th", { scope: "row", textContent: word }), make("td", {}, make("bdi", { textContent: value }))));
    }
    const command = recipe.command ? [make("pre", { className: "command", tabIndex: 0, textContent: recipe.command })] : [];
    command.forEach((one) => one.setAttribute("aria-label", "Command"));
    const close = make("button", { type: "button", textContent: "Close" });
    close.addEventListener("click", () => dialog.close());
    const feet = make("p", { className: "feet" }, ...(recipe.command ? [copy(recipe.command)] : []), make("a", { href: link.href, textContent: "The whole Run" }), close);
    dialog.append(head, ...command, make("p", { className: "quiet", textContent: recipe.sentence }), make("table", { className: "facts" }, facts), feet);
    dialog.addEventListener("close", () => {
      dialog.remove();
      link.focus();
    });
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
    dialog.showModal();
  }

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a.how");
    if (!link || link.getAttribute("href").startsWith("#") || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const answer = await fetch(address(link.href)).catch(() => null);
    if (answer?.ok) show(link, await answer.json());
    else location.href = link.href; // its page says what is wrong
  });
})();
