import { computed, signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { read } from './api.ts'
import { outage, status } from './state.ts'

/** What the page reads of an entry of `GET /v1/models`. */
export interface ListedModel {
  readonly id: string
  /** The name of its provider; `gateway` for a route. */
  readonly owned_by: string
  readonly capabilities: readonly string[]
}

/** The models and routes of the gateway; undefined until they are known. */
export const models = signal<readonly ListedModel[] | undefined>(undefined)

/** Why the models are not known. */
export const modelsProblem = signal<string | undefined>(undefined)

/** The models for chat whose provider has a credential: a request to any other fails. */
export const usableModels = computed(() =>
  models.value?.filter(
    ({ owned_by: provider, capabilities }) =>
      capabilities.includes('chat') && status.value?.credentials[provider]?.state !== 'missing',
  ),
)

/** The models for chat that are left out of `usableModels`. */
export const modelsWithoutCredential = computed(() => {
  const chatModels = models.value?.filter(({ capabilities }) => capabilities.includes('chat'))
  return (chatModels?.length ?? 0) - (usableModels.value?.length ?? 0)
})

/** Resolves when the list that was asked for last has arrived, or has failed. */
let reading: Promise<void> = Promise.resolve()

/** Reads the models while a view shows them, and again when the gateway is back after a restart. */
export function useModels(): void {
  const startedAt = status.value?.started_at
  const isDown = outage.value !== undefined
  // Before anything can be typed.
  useLayoutEffect(() => {
    reading = readModels()
  }, [startedAt, isDown])
}

/** Resolves when the models are known, or cannot be. */
export function waitForModels(): Promise<void> {
  return reading
}

async function readModels(): Promise<void> {
  try {
    models.value = (await read<{ data: readonly ListedModel[] }>('/v1/models')).data
    modelsProblem.value = undefined
  } catch (error) {
    modelsProblem.value = error instanceof Error ? error.message : String(error)
  }
}
