export type { HttpDurations } from './http-durations.ts'
export { metricsRecorder } from './record.ts'
export { createSeries, type Series } from './series.ts'
export { type WebhookSeries, webhookSeries } from './webhook-series.ts'
