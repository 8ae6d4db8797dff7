// A table that is wider than its place can be scrolled with the arrow keys: its frame takes the focus, and only while it is too wide,
// so that nobody must tab through frames that do nothing. Some browsers do this by themselves, without a script; not all.
(() => {
  "use strict";
  const look = (frame) => {
    const wide = frame.scrollWidth > frame.clientWidth;
    if (wide && !frame.querySelector("a, button, select, input")) frame.tabIndex = 0;
    else frame.removeAttribute("tabindex");
  };
  const watch = new ResizeObserver((seen) => seen.forEach(({ target }) => look(target)));
  document.querySelectorAll(".scroll").forEach((frame) => watch.observe(frame));
})();
