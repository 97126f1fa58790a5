import { createTheme, type CSSVariablesResolver } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'indigo',
  // On white, the library's default shade has a contrast of 4.3, and this one of 5.
  primaryShade: { light: 7, dark: 8 },
  autoContrast: true,
  cursorType: 'pointer',
  respectReducedMotion: true,
})

/** The library's colour of dimmed text is too light for some readers: its contrast on white is 3.3. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
    '--mantine-color-dimmed': '#5a6169',
    '--mantine-color-placeholder': '#6c737a',
  },
  dark: { '--mantine-color-dimmed': '#a9abb0', '--mantine-color-placeholder': '#8f9298' },
})
