/**
 * The look of a statechart, light and dark. Used by the page as a style sheet and by pictures that stand alone,
 * so everything is said with custom properties that the page may set itself.
 */
export const CHART_STYLE = `
.chart {
  --c-paper: #ffffff; --c-box: #f6f8fa; --c-line: #8c96a3; --c-text: #1f2733; --c-dim: #667180;
  --c-frame: #b6bfca; --c-inside: #eef2f6; --c-taken: #2a6fdb; --c-last: #c2571a;
  --c-lit: #2a6fdb; --c-lit-text: #ffffff; --c-seen: #e4eefc;
  background: var(--c-paper); font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .chart {
    --c-paper: #12161c; --c-box: #1c222b; --c-line: #6d7987; --c-text: #e6ebf1; --c-dim: #93a0ae;
    --c-frame: #3d4754; --c-inside: #171c23; --c-taken: #62a0ff; --c-last: #ff9d5c;
    --c-lit: #3f86f5; --c-lit-text: #ffffff; --c-seen: #1b2c47;
  }
}
.chart text { fill: var(--c-text); text-anchor: middle; }
.chart .start { fill: var(--c-text); }
.chart .frame { fill: none; stroke: var(--c-frame); stroke-width: 1.2; stroke-dasharray: 5 4; }
.chart .state rect { fill: var(--c-box); stroke: var(--c-line); stroke-width: 1.3; }
.chart .state.compound > rect { fill: var(--c-inside); }
.chart .state .line { stroke: var(--c-line); stroke-width: 1; opacity: .55; }
.chart .state .inner { fill: none; stroke-width: 1; }
.chart .state text { font-size: 13.5px; font-weight: 550; }
.chart .arrow { fill: none; stroke: var(--c-line); stroke-width: 1.3; marker-end: url(#tip); }
.chart .tip path { fill: var(--c-line); }
.chart .tip-taken path { fill: var(--c-taken); }
.chart .tip-last path { fill: var(--c-last); }
.chart .label text { font: 10.4px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--c-dim); }
.chart .label rect { fill: var(--c-paper); }
.chart .label.inside rect { fill: var(--c-inside); }
.chart .label .guard { opacity: .75; }
`;
