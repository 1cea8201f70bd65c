export { buildSnapshot, type SnapshotPorts } from './build.ts'
export { createOverview, listSnapshotWarnings } from './overview.ts'
export type { PreviousSnapshot } from './reuse.ts'
export type { ImageFetchPolicy, Snapshot } from './snapshot.ts'
