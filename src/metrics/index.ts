export { metricsRecorder } from './record.ts'
export { createSeries, type Series } from './series.ts'
