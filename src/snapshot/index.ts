export { buildSnapshot, type SnapshotPorts } from './build.ts'
export { SnapshotHolder, type Sources } from './holder.ts'
export { overviewOf, snapshotWarnings } from './overview.ts'
export type { ImageFetchPolicy, Snapshot } from './snapshot.ts'
