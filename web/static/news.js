// "3 new results": while somebody reads, the page asks once a minute what has come since it was made, and says so in its foot
// without changing anything. It asks only while it is looked at, and stops where the site does not answer.
(() => {
  "use strict";
  const told = document.querySelector("[data-news]");
  if (!told) return;
  const minute = 60000;
  let tag = "";
  const ask = async () => {
    if (document.visibilityState === "hidden") return;
    const answer = await fetch(told.dataset.news, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" }).catch(() => null);
    if (!answer || answer.status !== 200) return;
    tag = answer.headers.get("ETag") ?? "";
    const { results } = await answer.json();
    if (!results) return;
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "Load the page again";
    link.addEventListener("click", (event) => {
      event.preventDefault();
      location.reload();
    });
    told.replaceChildren(`${results} new result${results === 1 ? "" : "s"} since this page was made. `, link);
    told.hidden = false;
  };
  setInterval(ask, Number(told.dataset.every ?? minute));
  document.addEventListener("visibilitychange", ask);
})();
