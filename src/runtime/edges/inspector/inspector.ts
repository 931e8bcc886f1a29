/** Everything `import … from 'millrace/inspector'` offers. */
export type { Diagram, DiagramState, DiagramTransition } from '../../../actors/diagram.ts';
export type { InspectorOptions } from './inspector-options.ts';
export type { InspectedQueue } from './job-views.ts';
export { type DiagramFormat, type DiagramSource, pipelineDiagram } from './pipeline-diagram.ts';
export { type InspectorServer, serveInspector } from './server.ts';
