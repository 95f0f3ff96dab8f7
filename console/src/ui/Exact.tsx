/** A text byte for byte: what is copied from it is the text itself; invisible characters are named beside it (CO-21). */
import { codePoint, pieces } from './invisible'

export function Exact({ children, label }: { children: string; label: string }) {
  return (
    <pre className="exact" aria-label={label} role="region" tabIndex={0}>
      {pieces(children).map((piece, place) =>
        piece.mark ? (
          <span key={place} className="invisible-exact" data-code={codePoint(piece.text)}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </pre>
  )
}
