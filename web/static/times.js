// Every <time> shows the reader's own zone; UTC stands in its title. Without JavaScript the page shows UTC, and says so.
(() => {
  "use strict";
  const two = (number) => String(number).padStart(2, "0");
  for (const element of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
    element.textContent = element.dataset.show === "day" ? day : `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
  }
  const zone = document.querySelector("[data-zone]");
  if (!zone) return;
  const name = () => (zone.textContent = `Times are in your zone (${Intl.DateTimeFormat().resolvedOptions().timeZone}); hover for UTC.`);
  // The zone's name takes a new page 25 to 60 ms, and must not stand in the way of a chart: there it comes a second later.
  if (!document.querySelector("figure")) {
    name();
    return;
  }
  zone.textContent = "Times are in your zone; hover for UTC.";
  addEventListener("load", () => setTimeout(name, 1000));
})();
