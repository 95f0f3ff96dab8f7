/** The relations of a deleted entry that cannot return, since their other end is gone (CO-59). */
import { List, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { Told } from '../../ui/Told'
import { NAME_THEN, type ROW } from './documents'
import { omitted, type OmittedRelation } from './images'

type Record = Pick<ResultOf<typeof ROW>, 'before' | 'targetId' | 'recordedAt'>

export function Omitted({ record, ids }: { record: Record; ids: readonly string[] }) {
  const { t } = useTranslation('audit')
  return (
    <>
      <Text size="sm" mt="xs">
        {t('omitted')}
      </Text>
      <List size="sm">
        {omitted(record, ids).map((relation) => (
          <List.Item key={relation.id}>
            <Relation relation={relation} before={record.recordedAt} />
          </List.Item>
        ))}
      </List>
    </>
  )
}

function Relation({ relation, before }: { relation: OmittedRelation; before: string }) {
  const at = new Date(new Date(before).getTime() - 1).toISOString()
  const read = useRead(NAME_THEN, { id: relation.other ?? '', at }, { pause: relation.other === null })
  return <Told>{`${relation.type} – ${read.data?.entry?.name ?? '…'}`}</Told>
}
