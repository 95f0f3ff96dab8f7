/** Colours and shapes. Shades are chosen so that texts keep a contrast of 4.5:1 in both schemes (CO-9). */
import { createTheme, DEFAULT_THEME, type MantineColorsTuple } from '@mantine/core'

/** Buttons take the last shade, and the one before it under the mouse: white on either of them must be readable. */
function deeper(name: 'teal' | 'red', last: string): MantineColorsTuple {
  const shades = [...DEFAULT_THEME.colors[name].slice(0, 8), DEFAULT_THEME.colors[name][9], last]
  return shades as unknown as MantineColorsTuple
}

export const theme = createTheme({
  colors: { teal: deeper('teal', '#066649'), red: deeper('red', '#a61e1e') },
  primaryColor: 'teal',
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Open menus belong to the part of the page that they are opened in, and hold only items (CO-9).
    Menu: { defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } },
    // The heads of dialogs are no banners of the page.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
  },
})
