/** The content security policy takes styles only with the nonce of this answer; libraries that add some are told it. */
import { setNonce } from 'get-nonce'

export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

export function allowStyles(): void {
  setNonce(styleNonce())
  // Cytoscape adds its own style element unless it finds one of this id; `console.css` holds what is in it.
  const taken = document.createElement('style')
  taken.id = '__________cytoscape_stylesheet'
  taken.nonce = styleNonce()
  document.head.append(taken)
}
