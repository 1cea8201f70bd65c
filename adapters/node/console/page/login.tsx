import { useSignal } from '@preact/signals'
import { logIn } from './state.ts'

/** Asks for the code when the browser did not open the printed link. */
export function Login() {
  const problem = useSignal<string | undefined>(undefined)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    try {
      await logIn(String(form.get('code')))
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error)
    }
  }
  return (
    <main class="login">
      <form class="panel" onSubmit={submit}>
        <h1>
          <img src="/icon.svg" alt="" width="32" height="32" /> Model Gateway
        </h1>
        <label>
          Code
          <input name="code" autocomplete="off" spellcheck={false} required autofocus />
        </label>
        <p class="hint">
          <code>gateway console</code> prints a link with the code. A new start has a new code.
        </p>
        {problem.value !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary">
          Open the console
        </button>
      </form>
    </main>
  )
}
