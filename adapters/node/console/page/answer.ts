import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { outage } from './state.ts'

/** What a path of the API answered last, and why it cannot be read now. */
export interface Answer<Shape> {
  readonly value: Shape | undefined
  readonly problem: string | undefined
}

const pollMs = 10_000

/**
 * Reads a path while the view is open: at once, every ten seconds, and when the gateway is back. Reads nothing without a
 * path.
 */
export function useAnswer<Shape>(path: string | undefined): Answer<Shape> {
  const answer = useSignal<Answer<Shape>>({ value: undefined, problem: undefined })
  const isDown = outage.value !== undefined
  useEffect(() => {
    if (path === undefined) return undefined
    const view = { isCurrent: true }
    const refresh = async () => {
      if (document.hidden) return
      const next = await readAnswer<Shape>(path, answer.peek().value)
      if (view.isCurrent) answer.value = next
    }
    void refresh()
    const timer = setInterval(refresh, pollMs)
    return () => {
      view.isCurrent = false
      clearInterval(timer)
    }
  }, [path, isDown])
  return answer.value
}

/** Keeps the value before where the path cannot be read. Never rejects. */
async function readAnswer<Shape>(path: string, before: Shape | undefined): Promise<Answer<Shape>> {
  try {
    return { value: await read<Shape>(path), problem: undefined }
  } catch (error) {
    return { value: before, problem: error instanceof Error ? error.message : String(error) }
  }
}
