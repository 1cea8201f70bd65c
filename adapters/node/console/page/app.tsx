import { useComputed } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Audit } from './audit.tsx'
import { Chat } from './chat.tsx'
import { Connect } from './connect.tsx'
import { formatTime, timeZone } from './format.ts'
import { Keys } from './keys.tsx'
import { Login } from './login.tsx'
import { Models } from './models.tsx'
import { Notice } from './notice.tsx'
import { Overview } from './overview.tsx'
import { linkTo, place } from './place.ts'
import { Requests } from './requests.tsx'
import { token } from './session.ts'
import { Spend } from './spend.tsx'
import { answeredAt, outage, status } from './state.ts'
import { changeTheme, theme } from './theme.ts'

interface View {
  readonly id: string
  readonly title: string
  readonly content: ComponentType
}

const views: readonly [View, ...View[]] = [
  { id: 'overview', title: 'Overview', content: Overview },
  { id: 'requests', title: 'Requests', content: Requests },
  { id: 'models', title: 'Models', content: Models },
  { id: 'spend', title: 'Spend', content: Spend },
  { id: 'keys', title: 'Keys', content: Keys },
  { id: 'audit', title: 'Audit', content: Audit },
  { id: 'chat', title: 'Chat', content: Chat },
  { id: 'connect', title: 'Connect', content: Connect },
]

/** The whole page. The address names the present view, so that the browser's back button works. */
export function App() {
  const view = useComputed(() => views.find(({ id }) => id === place.value.view) ?? views[0])
  const isOpen = token.value !== undefined
  const { id, title } = view.value
  useEffect(() => {
    document.title = `${isOpen ? title : 'Log in'} · Model Gateway`
  }, [isOpen, title])
  useEffect(() => scrollTo(0, 0), [id])
  return isOpen ? <Frame view={view.value} /> : <Login />
}

function Frame({ view }: { readonly view: View }) {
  const { id, title, content: Content } = view
  const main = useRef<HTMLElement>(null)
  const skip = (event: Event) => {
    // The address belongs to the views.
    event.preventDefault()
    main.current?.focus()
  }
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <header class="bar">
        <strong class="brand">
          <img src="/icon.svg" alt="" width="24" height="24" /> Model Gateway
        </strong>
        <nav aria-label="Views">
          {views.map((each) => (
            <a
              key={each.id}
              href={linkTo(each.id)}
              aria-current={each.id === id ? 'page' : undefined}
            >
              {each.title}
            </a>
          ))}
        </nav>
        <Connection />
        <button type="button" class="quiet" onClick={changeTheme} title="Change the color scheme">
          Theme: {theme}
        </button>
      </header>
      <Outage />
      <main
        id="main"
        ref={main}
        tabIndex={-1}
        class={outage.value === undefined ? undefined : 'stale'}
      >
        <h1 class="visually-hidden">{title}</h1>
        <Content />
      </main>
      <Notice />
      <footer class="foot">
        {timeZone === 'UTC'
          ? 'Times are in UTC.'
          : `Times are in ${timeZone}; days of Spend are in UTC.`}
      </footer>
    </>
  )
}

/** Says that what the page shows is old. It does not change while the outage lasts, so it is read out once. */
function Outage() {
  if (outage.value === undefined) return null
  const { value: last } = answeredAt
  return (
    <p class="outage" role="alert">
      <strong>No connection: {outage}.</strong>{' '}
      {last === undefined
        ? 'There was no answer yet.'
        : `The page shows the state of the last answer, at ${formatTime(last)}.`}{' '}
      Retrying every second.
    </p>
  )
}

function Connection() {
  if (outage.value !== undefined) {
    return (
      <span class="connection" role="status">
        <span class="dot bad" /> not connected
      </span>
    )
  }
  const { value: known } = status
  return (
    <span class="connection" role="status">
      <span class={known ? 'dot good' : 'dot'} /> {known ? 'live' : 'connecting'}
      {known && <span class="version">, version {known.version}</span>}
    </span>
  )
}
