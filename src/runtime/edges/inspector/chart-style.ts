/**
 * The look of a statechart, light and dark. A picture that stands alone brings it along; the page uses it as a style sheet and sets
 * some of the colours itself. `lit`, `around`, `seen`, `taken` and `last` are what a page toggles: the state a job is in, the
 * compound state around it, states and arrows on its way so far, and the arrow it took last.
 */
export const CHART_STYLE = `
.chart {
  --c-paper: #ffffff; --c-box: #f7f9fb; --c-line: #8792a0; --c-text: #1b2430; --c-dim: #5d6877; --c-frame: #b9c2cd; --c-inside: #eef2f7;
  --c-on: #ffffff; --c-active: #1d62d1; --c-pending: #77828f; --c-retrying: #b46a00; --c-paused: #7a4fc4; --c-completed: #1a7f45;
  --c-failed: #c9302c; --c-cancelled: #8a6d5a;
  background: var(--c-paper); font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .chart {
    --c-paper: #12161c; --c-box: #1c222b; --c-line: #6d7987; --c-text: #e6ebf1; --c-dim: #93a0ae; --c-frame: #3d4754; --c-inside: #181e26;
    --c-on: #08111f; --c-active: #62a0ff; --c-pending: #8d99a7; --c-retrying: #f0a63c; --c-paused: #b18cf2; --c-completed: #4cc47c;
    --c-failed: #ff6f69; --c-cancelled: #bb9a84;
  }
}
.chart text { fill: var(--c-text); text-anchor: middle; }
.chart .start { fill: var(--c-text); }
.chart .frame { fill: none; stroke: var(--c-frame); stroke-width: 1.2; stroke-dasharray: 5 4; }
.chart .state { --c-tone: var(--c-active); }
.chart .state[data-state="pending"], .chart .state[data-state="blocked"], .chart .state[data-state="stale"] { --c-tone: var(--c-pending); }
.chart .state[data-state="retrying"] { --c-tone: var(--c-retrying); }
.chart .state[data-state="paused"] { --c-tone: var(--c-paused); }
.chart .state[data-state="completed"] { --c-tone: var(--c-completed); }
.chart .state[data-state="failed"] { --c-tone: var(--c-failed); }
.chart .state[data-state="cancelled"], .chart .state[data-state="deleted"] { --c-tone: var(--c-cancelled); }
.chart .state rect { fill: var(--c-box); stroke: var(--c-line); stroke-width: 1.3; transition: fill .25s, stroke .25s; }
.chart .state.compound > rect { fill: var(--c-inside); }
.chart .state .line { stroke: var(--c-line); stroke-width: 1; opacity: .5; }
.chart .state .inner { fill: none; stroke-width: 1; }
.chart .state text { font-size: 13.5px; font-weight: 550; }
.chart .arrow { fill: none; stroke: var(--c-line); stroke-width: 1.3; marker-end: url(#tip); }
.chart .tip path { fill: var(--c-line); }
.chart .tip-taken path { fill: var(--c-active); }
.chart .tip-last path { fill: var(--c-retrying); }
.chart .label rect { fill: var(--c-paper); }
.chart .label.inside rect { fill: var(--c-inside); }
.chart .label text { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--c-dim); }
.chart .label .guard { opacity: .8; }
.chart .seen > rect { stroke: var(--c-tone); stroke-width: 1.9; }
.chart .around > rect { stroke: var(--c-tone); stroke-width: 2.2; }
.chart .lit > rect { fill: var(--c-tone); stroke: var(--c-tone); stroke-width: 2.2; }
.chart .lit > .inner { fill: none; stroke: var(--c-on); stroke-width: 1; }
.chart .lit > text { fill: var(--c-on); }
.chart .arrow.taken { stroke: var(--c-active); stroke-width: 1.9; marker-end: url(#tip-taken); }
.chart .arrow.last { stroke: var(--c-retrying); stroke-width: 2.4; marker-end: url(#tip-last); }
.chart .label.taken text { fill: var(--c-active); }
.chart .label.last text { fill: var(--c-retrying); font-weight: 700; }
`;
