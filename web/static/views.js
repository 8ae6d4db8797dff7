// Saved views: names for addresses, kept by this browser. The address holds the whole view, so that a saved one is a link like any
// other, which can be sent to somebody else.
(() => {
  "use strict";
  const box = document.querySelector("[data-views]");
  const key = "perfd views";
  const most = 50;
  const read = () => {
    try {
      const found = JSON.parse(localStorage.getItem(key) ?? "[]");
      return Array.isArray(found) ? found.filter((one) => typeof one.name === "string" && /^\/explore(\?|$)/.test(one.address)) : [];
    } catch {
      return [];
    }
  };
  const make = (tag, properties, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };

  function show() {
    const views = read();
    const list = make("ul", {});
    for (const one of views) {
      const drop = make("button", { type: "button", textContent: "forget" });
      drop.setAttribute("aria-label", `Forget ${one.name}`);
      drop.addEventListener("click", () => write(views.filter((other) => other !== one)));
      list.append(make("li", {}, make("a", { href: one.address, textContent: one.name }), " ", drop));
    }
    const name = make("input", { maxLength: 60, required: true });
    const form = make("form", { className: "filter" }, make("label", {}, "Save this view as", name), make("button", { textContent: "Save" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const saved = { name: name.value.trim(), address: location.pathname + location.search };
      if (saved.name) write([saved, ...views.filter((one) => one.name !== saved.name)].slice(0, most));
    });
    box.replaceChildren(make("details", { open: false }, make("summary", { textContent: `Saved views (${views.length})` }), list, form, make("p", { className: "quiet", textContent: "They are kept in this browser; to share one, send its address." })));
  }

  function write(views) {
    try {
      localStorage.setItem(key, JSON.stringify(views));
    } catch {
      box.replaceChildren(make("p", { className: "note", textContent: "This browser keeps nothing for this site; bookmark the page instead." }));
      return;
    }
    show();
    box.querySelector("details").open = true;
  }

  show();
  box.hidden = false;
})();
