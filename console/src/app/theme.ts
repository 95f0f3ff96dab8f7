/** Colours and shapes. Shades are chosen so that texts keep a contrast of 4.5:1 in both schemes (CO-9). */
import { createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
})
