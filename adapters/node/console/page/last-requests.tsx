import { useSignal } from '@preact/signals'
import { useHeldRows } from './held-rows.ts'
import { linkTo } from './place.ts'
import { RequestTable } from './request-table.tsx'
import { PauseButton } from './requests.tsx'
import type { RecentRequest } from './shapes.ts'
import { requests } from './state.ts'

const maxRows = 12

/** The newest requests. An open one stays in its place. */
export function LastRequests() {
  const opened = useSignal<RecentRequest['id'] | undefined>(undefined)
  const { shown } = useHeldRows(requests.value, opened.value !== undefined)
  const toggle = (id: RecentRequest['id']) => {
    opened.value = opened.value === id ? undefined : id
  }
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Last requests</h2>
        <a href={linkTo('requests')}>Search all</a>
        <PauseButton />
      </div>
      {shown.length === 0 && (
        <p class="empty">
          No request yet. Send one, for example in the <a href={linkTo('chat')}>chat</a>.
        </p>
      )}
      {shown.length > 0 && (
        <RequestTable requests={shown.slice(0, maxRows)} opened={opened.value} toggle={toggle} />
      )}
    </section>
  )
}
