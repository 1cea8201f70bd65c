import { ModelTable } from './model-table.tsx'
import { place } from './place.ts'
import { Routes } from './routes.tsx'
import { Settings } from './settings.tsx'
import { Tabs } from './tabs.tsx'

const tabs = [
  { id: 'models', title: 'Models', content: ModelTable },
  { id: 'routes', title: 'Routes', content: Routes },
  { id: 'settings', title: 'Settings', content: Settings },
] as const

/** What the gateway serves: its models with their prices, its routes, and the settings in force. Nothing is changed here. */
export function Models() {
  const chosen = place.value.query.get('tab')
  const { id, content: Content } = tabs.find((tab) => tab.id === chosen) ?? tabs[0]
  return (
    <>
      <Tabs view="models" label="Parts of the configuration" tabs={tabs} current={id} />
      <Content />
    </>
  )
}
