import { signal } from '@preact/signals'

/** `system` follows the setting of the operating system. */
export type Theme = 'system' | 'light' | 'dark'

const themes: readonly Theme[] = ['system', 'light', 'dark']
const storageName = 'theme'

export const theme = signal<Theme>(readTheme())

/** Counts the changes of the colors in force, so that charts draw themselves again. */
export const colorChanges = signal(0)

const darkSystem = matchMedia('(prefers-color-scheme: dark)')
const forcedColors = matchMedia('(forced-colors: active)')

/** Whether the system replaces all colors by a few, as its mode for high contrast does. */
export function areColorsForced(): boolean {
  return forcedColors.matches
}

/** Applies the theme to the page, now and after each change. */
export function applyTheme(): void {
  const apply = () => {
    const { value: chosen } = theme
    const isDark = chosen === 'dark' || (chosen === 'system' && darkSystem.matches)
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
    localStorage.setItem(storageName, chosen)
    colorChanges.value++
  }
  theme.subscribe(apply)
  darkSystem.addEventListener('change', apply)
  forcedColors.addEventListener('change', apply)
}

export function changeTheme(): void {
  const next = (themes.indexOf(theme.value) + 1) % themes.length
  theme.value = themes[next] ?? 'system'
}

function readTheme(): Theme {
  const stored = localStorage.getItem(storageName)
  return themes.find((name) => name === stored) ?? 'system'
}
