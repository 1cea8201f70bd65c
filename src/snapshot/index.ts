export { buildSnapshot, type SnapshotPorts } from './build.ts'
export type { Snapshot } from './snapshot.ts'
