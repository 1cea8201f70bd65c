import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { read } from './api.ts'
import { ask, type Served } from './completion.ts'

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: string
  readonly served?: Served | undefined
}

const models = signal<readonly string[]>([])
const model = signal('')
const turns = signal<readonly Turn[]>([])
const problem = signal<string | undefined>(undefined)
const running = signal<AbortController | undefined>(undefined)
/** Resolves when the list of models has arrived. */
let loading: Promise<void> | undefined

/** A box to try the models. Its requests carry a key that the console creates for itself. */
export function Chat() {
  // Before anything can be typed.
  useLayoutEffect(() => {
    loading = loadModels()
  }, [])
  return (
    <section class="panel chat">
      <div class="section-head">
        <h2>Chat</h2>
        <label>
          with{' '}
          <select
            value={model}
            onChange={({ currentTarget }) => (model.value = currentTarget.value)}
          >
            {models.value.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        {turns.value.length > 0 && (
          <button type="button" class="quiet" onClick={() => (turns.value = [])}>
            Clear
          </button>
        )}
      </div>
      <ol class="turns" aria-live="polite">
        {turns.value.map((turn, index) => (
          // A turn has no id, and never changes its place.
          <li key={index} class={turn.role}>
            <p class="said">{turn.content || '…'}</p>
            {turn.served && <p class="faint">{describeServed(turn.served)}</p>}
          </li>
        ))}
      </ol>
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <Question />
    </section>
  )
}

function Question() {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const question = String(new FormData(form).get('question')).trim()
    if (question === '' || running.value) return
    form.reset()
    void say(question)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    ;(event.currentTarget as HTMLTextAreaElement).form?.requestSubmit()
  }
  return (
    <form class="question" onSubmit={submit}>
      <textarea
        name="question"
        rows={3}
        aria-label="Message"
        placeholder="Say something. Enter sends, Shift+Enter begins a new line."
        onKeyDown={onKeyDown}
      />
      {running.value ? (
        <button type="button" class="quiet" onClick={() => running.value?.abort()}>
          Stop
        </button>
      ) : (
        <button type="submit" class="primary">
          Send
        </button>
      )}
    </form>
  )
}

async function loadModels(): Promise<void> {
  try {
    const { data } = await read<{ data: { id: string }[] }>('/v1/models')
    models.value = data.map(({ id }) => id)
    model.value ||= models.value[0] ?? ''
  } catch (error) {
    problem.value = error instanceof Error ? error.message : String(error)
  }
}

/** Sends the conversation and shows the answer while it comes. */
async function say(question: string): Promise<void> {
  const asked: Turn[] = [...turns.value, { role: 'user', content: question }]
  turns.value = [...asked, { role: 'assistant', content: '' }]
  problem.value = undefined
  const cancel = new AbortController()
  running.value = cancel
  // A quick typist is ahead of the list.
  await loading
  try {
    const messages = asked.map(({ role, content }) => ({ role, content }))
    const answer = ask({ model: model.value, messages, signal: cancel.signal })
    for await (const { content, served } of answer) {
      turns.value = [...asked, { role: 'assistant', content, served }]
    }
  } catch (error) {
    if (!cancel.signal.aborted)
      problem.value = error instanceof Error ? error.message : String(error)
  }
  running.value = undefined
}

function describeServed({ model: served, provider, attempts, tokens }: Served): string {
  const parts = [
    `${served} by ${provider}`,
    attempts === 1 ? undefined : `${attempts} attempts`,
    tokens === undefined ? undefined : `${tokens} tokens`,
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}
