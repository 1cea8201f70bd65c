import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { AccountDialog, type Open, type Opened } from './account-dialogs.tsx'
import { GroupList } from './group-list.tsx'
import { KeyList } from './key-list.tsx'
import { isOfConsole } from './key-states.ts'
import { readLastUsed } from './last-used.ts'
import { place } from './place.ts'
import { groups, keys } from './state.ts'
import { Tabs } from './tabs.tsx'

/** The keys and groups, and everything that can be done with them. */
export function Keys() {
  const opened = useSignal<Opened | undefined>(undefined)
  const open: Open = (next) => {
    opened.value = next
  }
  useEffect(() => {
    // Without it the list shows the last requests only, and the banner says why.
    void readLastUsed().catch(() => undefined)
  }, [])
  const noun = place.value.query.get('tab') === 'groups' ? 'groups' : 'keys'
  const ownKeys = keys.value.filter((key) => !isOfConsole(key))
  const tabs = [
    { id: 'keys', title: 'Keys', count: ownKeys.length },
    { id: 'groups', title: 'Groups', count: groups.value.length },
  ]
  return (
    <section class="panel">
      <div class="section-head">
        <Tabs view="keys" label="Accounts" tabs={tabs} current={noun} />
        <button type="button" class="primary" onClick={() => open({ dialog: 'new', noun })}>
          {noun === 'keys' ? 'New key' : 'New group'}
        </button>
      </div>
      {noun === 'keys' ? <KeyList open={open} /> : <GroupList open={open} />}
      {opened.value && <AccountDialog opened={opened.value} open={open} />}
    </section>
  )
}
