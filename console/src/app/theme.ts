/** Colours and shapes. Shades are chosen so that texts keep a contrast of 4.5:1 in both schemes (CO-9). */
import { createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  // The heads of dialogs are no banners of the page.
  components: {
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
  },
})
