import { computed, signal } from '@preact/signals'
import { ask, type Message, type PartialAnswer, type Served } from './completion.ts'
import { usableModels, waitForModels } from './listed-models.ts'

/** A question and its answer. */
export interface Turn {
  readonly id: number
  readonly question: string
  readonly answer: string
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Why it failed. */
  readonly problem?: string | undefined
  readonly served?: Served | undefined
}

export const turns = signal<readonly Turn[]>([])
/** Leads the conversation; empty for none. */
export const systemPrompt = signal('')
/** Ends the answer that is coming; undefined while there is none. */
export const running = signal<AbortController | undefined>(undefined)

const chosenModel = signal<string | undefined>(undefined)

/** The model that answers: the chosen one, or the first while that one cannot be used. */
export const model = computed(() => {
  const { value: listed = [] } = usableModels
  return listed.find(({ id }) => id === chosenModel.value)?.id ?? listed[0]?.id
})

export function chooseModel(id: string): void {
  chosenModel.value = id
}

let lastId = 0

/** Asks a question as the next turn. */
export async function say(question: string): Promise<void> {
  const turn: Turn = { id: ++lastId, question, answer: '', state: 'running' }
  turns.value = [...turns.value, turn]
  await answer(turn)
}

/** Asks the question of a turn again, with the conversation before it. */
export async function retry({ id, question }: Turn): Promise<void> {
  const turn: Turn = { id, question, answer: '', state: 'running' }
  replace(turn)
  await answer(turn)
}

export function clear(): void {
  running.value?.abort()
  turns.value = []
}

async function answer(turn: Turn): Promise<void> {
  const cancel = new AbortController()
  running.value = cancel
  let latest: PartialAnswer | undefined
  const show = (outcome: Pick<Turn, 'state' | 'problem'>) =>
    replace({ ...turn, answer: latest?.content ?? '', served: latest?.served, ...outcome })
  try {
    for await (const partial of streamAnswer(turn, cancel)) {
      latest = partial
      if (isDue()) show({ state: 'running' })
    }
    show({ state: 'done' })
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    show(cancel.signal.aborted ? { state: 'stopped' } : { state: 'failed', problem })
  }
  if (running.value === cancel) running.value = undefined
}

async function* streamAnswer(turn: Turn, cancel: AbortController): AsyncGenerator<PartialAnswer> {
  const messages = listMessages(turn)
  // A quick typist is ahead of the list.
  await waitForModels()
  const { value: id } = model
  if (id === undefined) throw new Error('there is no model for chat with a credential')
  yield* ask({ model: id, messages, signal: cancel.signal })
}

/** The conversation up to a question. Turns without an answer are no part of it. */
function listMessages({ id, question }: Turn): Message[] {
  const before = turns.value
    .slice(
      0,
      turns.value.findIndex((turn) => turn.id === id),
    )
    .filter(({ state, answer: said }) => state !== 'failed' && said !== '')
    .flatMap((turn): Message[] => [
      { role: 'user', content: turn.question },
      { role: 'assistant', content: turn.answer },
    ])
  const prompt = systemPrompt.value.trim()
  const lead: Message[] = prompt === '' ? [] : [{ role: 'system', content: prompt }]
  return [...lead, ...before, { role: 'user', content: question }]
}

/** A turn that was cleared in the meantime stays away. */
function replace(turn: Turn): void {
  turns.value = turns.value.map((each) => (each.id === turn.id ? turn : each))
}

/** Long answers have thousands of chunks, and each change renders the whole answer. */
const minPauseMs = 40
let shownAt = 0

function isDue(): boolean {
  const now = performance.now()
  if (now - shownAt < minPauseMs) return false
  shownAt = now
  return true
}
