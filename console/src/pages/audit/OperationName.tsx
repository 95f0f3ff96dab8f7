import { useTranslation } from 'react-i18next'

import { operationKey } from './operations'

/** What was done, in words; the name of the API for one that this console does not know. */
export function OperationName({ of }: { of: string }) {
  const { t } = useTranslation('audit')
  const key = operationKey(of)
  return <>{key === undefined ? of : t(`operation.${key}`)}</>
}
