import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { ChatTurn } from './chat-turn.tsx'
import { chooseModel, clear, model, running, say, systemPrompt, turns } from './conversation.ts'
import {
  models,
  modelsProblem,
  modelsWithoutCredential,
  usableModels,
  useModels,
} from './listed-models.ts'

/** A box to try the models. Its requests carry a key that the console creates for itself. */
export function Chat() {
  useModels()
  useStickyEnd()
  return (
    <section class="panel chat">
      <Head />
      <details class="system" open={systemPrompt.value !== ''}>
        <summary>System prompt</summary>
        <textarea
          rows={3}
          aria-label="System prompt"
          placeholder="For example: Answer in one sentence."
          value={systemPrompt.value}
          onChange={({ currentTarget }) => (systemPrompt.value = currentTarget.value)}
        />
      </details>
      {turns.value.length === 0 && <Hints />}
      <ol class="turns" aria-live="polite" aria-busy={running.value !== undefined}>
        {turns.value.map((turn) => (
          <ChatTurn key={turn.id} turn={turn} />
        ))}
      </ol>
      <Question />
    </section>
  )
}

function Head() {
  return (
    <div class="section-head">
      <h2>Chat</h2>
      <label class="model">
        with{' '}
        <select
          value={model.value}
          onChange={({ currentTarget }) => chooseModel(currentTarget.value)}
        >
          {usableModels.value?.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
      {turns.value.length > 0 && (
        <button type="button" class="quiet" onClick={clear}>
          Clear
        </button>
      )}
    </div>
  )
}

/** What can be done here, and why a model may be missing. */
function Hints() {
  const { value: hidden } = modelsWithoutCredential
  return (
    <div class="empty hints">
      {modelsProblem.value === undefined ? (
        <p>Ask a model something. Each answer shows who served it, how fast, and what it cost.</p>
      ) : (
        <p class="problem" role="alert">
          The models could not be read: {modelsProblem}
        </p>
      )}
      {models.value && usableModels.value?.length === 0 && (
        <p>No model for chat has a credential. See the providers in the Overview.</p>
      )}
      {hidden > 0 && (
        <p>
          {hidden === 1 ? '1 model is' : `${hidden} models are`} not offered, because the provider
          has no credential.
        </p>
      )}
    </div>
  )
}

/** Keeps the end of the conversation in sight, unless the reader has scrolled up. */
function useStickyEnd(): void {
  const isAtEnd = useRef(true)
  useEffect(() => {
    const onScroll = () => {
      const { scrollHeight } = document.documentElement
      isAtEnd.current = innerHeight + scrollY >= scrollHeight - nearPx
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  const { value: shown } = turns
  useLayoutEffect(() => {
    if (isAtEnd.current && shown.length > 0) scrollTo(0, document.documentElement.scrollHeight)
  }, [shown])
  // A new question is at the end.
  useLayoutEffect(() => {
    if (shown.length > 0) scrollTo(0, document.documentElement.scrollHeight)
  }, [shown.length])
}

/** How far from the end still counts as the end. */
const nearPx = 80

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
        rows={2}
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
