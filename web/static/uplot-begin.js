// This, uPlot as it was published and uplot-end.js are sent as one script, uplot.js. When it is loaded, uPlot makes a format of
// numbers and asks for the reader's time zone. The first use of Intl takes a new page 25 to 60 ms, in which nothing can be drawn,
// so in here there is another Intl: its format is made when a number is to be written, and it knows no zone, for only
// uPlot.tzDate asks, which no chart of ours calls.
window.uPlot = ((Intl) => {
