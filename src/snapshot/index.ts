export { buildSnapshot, type SnapshotPorts } from './build.ts'
export { SnapshotHolder, type Sources } from './holder.ts'
export type { ImageFetchPolicy, Snapshot } from './snapshot.ts'
