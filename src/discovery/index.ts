export { type ListQuery, ModelDiscovery } from './model-discovery.ts'
