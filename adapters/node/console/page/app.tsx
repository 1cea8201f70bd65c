import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { Chat } from './chat.tsx'
import { formatTime } from './format.ts'
import { Keys } from './keys.tsx'
import { Login } from './login.tsx'
import { Overview } from './overview.tsx'
import { token } from './session.ts'
import { Spend } from './spend.tsx'
import { answeredAt, outage, status } from './state.ts'
import { changeTheme, theme } from './theme.ts'

interface Page {
  readonly id: string
  readonly title: string
  readonly content: ComponentType
}

const pages: readonly [Page, ...Page[]] = [
  { id: 'overview', title: 'Overview', content: Overview },
  { id: 'spend', title: 'Spend', content: Spend },
  { id: 'keys', title: 'Keys', content: Keys },
  { id: 'chat', title: 'Chat', content: Chat },
]

const currentPage = signal(readPage())
addEventListener('hashchange', () => (currentPage.value = readPage()))

/** The whole page. The address after `#` names the current view, so that the browser's back button works. */
export function App() {
  if (token.value === undefined) return <Login />
  const { content: Content, title } = currentPage.value
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <strong class="brand">
          <img src="/icon.svg" alt="" width="24" height="24" /> Model Gateway
        </strong>
        <nav aria-label="Views">
          {pages.map(({ id, title: name }) => (
            <a key={id} href={`#${id}`} aria-current={name === title ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Connection />
        <button type="button" class="quiet" onClick={changeTheme} title="Change the color scheme">
          Theme: {theme}
        </button>
      </header>
      <Outage />
      <main id="main" tabIndex={-1} class={outage.value === undefined ? undefined : 'stale'}>
        <h1 class="visually-hidden">{title}</h1>
        <Content />
      </main>
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
      <span class={known ? 'dot good' : 'dot'} />{' '}
      {known ? `live, version ${known.version}` : 'connecting'}
    </span>
  )
}

function readPage(): Page {
  const id = location.hash.slice(1)
  return pages.find((page) => page.id === id) ?? pages[0]
}
