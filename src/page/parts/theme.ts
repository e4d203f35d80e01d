/** Light, dark, or as the system has it; kept by the browser. The frame changes it, charts follow it. */
import { effect, signal } from '@preact/signals'

const STORED = 'lockstep-theme'
const THEMES = ['as the system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const isTheme = (text: string | null): text is Theme => THEMES.some(theme => theme === text)

const stored = localStorage.getItem(STORED)
export const theme = signal<Theme>(isTheme(stored) ? stored : 'as the system')

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', () => {
  systemIsDark.value = system.matches
})

export const isDark = (): boolean => (theme.value === 'as the system' ? systemIsDark.value : theme.value === 'dark')

effect(() => {
  const { value } = theme
  localStorage.setItem(STORED, value)
  if (value === 'as the system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = value
})

export function changeTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'as the system'
}
