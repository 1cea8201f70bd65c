import { render } from 'preact'
import { App } from './app.tsx'
import { linkTo, replaceAddress } from './place.ts'
import { follow, logIn } from './state.ts'
import { applyTheme } from './theme.ts'

applyTheme()
await openLink()
// The link that is pasted over the address of an open page loads nothing.
addEventListener('hashchange', () => void openLink())
render(<App />, document.body)
await follow()

/** Logs in with the code of the printed link, if the address has one. */
async function openLink(): Promise<void> {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? []
  if (code === undefined) return
  // The link stays out of the history.
  replaceAddress(linkTo('overview'))
  await logIn(code).catch(() => undefined)
}
