export type { BreakerPolicy, CircuitState } from './breaker.ts'
export { Breakers } from './breakers.ts'
export { type Attempt, type Resilience, runChain, type Served } from './chain.ts'
export type { RetryPolicy } from './retry.ts'
