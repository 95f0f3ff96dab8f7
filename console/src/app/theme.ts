/** Colours and shapes. Shades are chosen so that texts keep a contrast of 4.5:1 in both schemes (CO-9). */
import { createTheme, DEFAULT_THEME, type MantineColorsTuple } from '@mantine/core'

/** Buttons take the last shade, and the one before it under the mouse: white on either of them must be readable. */
function deeper(name: 'teal' | 'red', last: string): MantineColorsTuple {
  const shades = [...DEFAULT_THEME.colors[name].slice(0, 8), DEFAULT_THEME.colors[name][9], last]
  return shades as unknown as MantineColorsTuple
}

/** Its options scroll as one list, which the field moves through, and no box inside of it that no key reaches. */
const OPTIONS_SCROLL = { defaultProps: { withScrollArea: false } }

export const theme = createTheme({
  colors: { teal: deeper('teal', '#066649'), red: deeper('red', '#a61e1e') },
  primaryColor: 'teal',
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // What a field takes is said below it, so that fields beside each other stand on one line.
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } },
    // Open menus and lists belong to the part of the page that they are opened in; menus hold only items (CO-9).
    Menu: { defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } },
    // Fixed, so that no dialog or table cuts them off.
    Combobox: { defaultProps: { withinPortal: false, floatingStrategy: 'fixed' } },
    Select: OPTIONS_SCROLL,
    MultiSelect: OPTIONS_SCROLL,
    Autocomplete: OPTIONS_SCROLL,
    TagsInput: OPTIONS_SCROLL,
    // The heads of dialogs are no banners of the page.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
  },
})
