return uPlot;
})({
  NumberFormat: class {
    constructor(...told) {
      this.told = told;
    }
    format(value) {
      this.made ??= new Intl.NumberFormat(...this.told);
      return this.made.format(value);
    }
  },
  DateTimeFormat: class {
    resolvedOptions() {
      return {};
    }
  },
});
