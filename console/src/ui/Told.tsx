/** A text of somebody else, shown as data: isolated in its direction, with marks for what one cannot see (CO-10). */
import { useTranslation } from 'react-i18next'

import { codePoint, pieces } from './invisible'

export function Told({ children }: { children: string }) {
  const { t } = useTranslation('ui')
  return (
    <bdi className="text">
      {pieces(children).map((piece, place) =>
        piece.mark ? (
          <span
            key={place}
            className="invisible-mark"
            title={t('invisible', { code: codePoint(piece.text) })}
          >
            {codePoint(piece.text)}
          </span>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  )
}
