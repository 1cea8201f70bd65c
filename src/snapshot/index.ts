export { buildSnapshot, type SnapshotPorts } from './build.ts'
export { overviewOf, snapshotWarnings } from './overview.ts'
export type { PreviousSnapshot } from './reuse.ts'
export type { ImageFetchPolicy, Snapshot } from './snapshot.ts'
