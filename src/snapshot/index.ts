export { buildSnapshot, type SnapshotPorts } from './build.ts'
export type { ImageFetchPolicy, Snapshot } from './snapshot.ts'
