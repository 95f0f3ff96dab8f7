/** Used and allowed tokens of the resident memo of each knowledge base (CO-66). */
import { Progress, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Told } from '../../ui/Told'
import { Figures, Section } from './Section'
import type { Status } from './StatusPage'

const NEAR = 0.9

export function Memos({ memos }: { memos: Status['memos'] }) {
  const { t } = useTranslation(['status', 'ui'])
  return (
    <Section id="memos" title={t('memos.title')}>
      {memos.length === 0 ? (
        <Text>{t('memos.none')}</Text>
      ) : (
        <Figures
          label={t('memos.title')}
          heads={[t('memos.base'), t('memos.tokens'), t('memos.share')]}
          minWidth={360}
        >
          {memos.map(({ knowledgeBase: base, used, allowed }) => (
            <Table.Tr key={base.id}>
              <Table.Th scope="row">
                {t(`ui:kb.${base.kind}`)} {base.channel && <Told>{base.channel.displayName}</Told>}
              </Table.Th>
              <Table.Td>{t('memos.of', { used, allowed })}</Table.Td>
              <Table.Td>
                <Progress
                  value={Math.min(100, (100 * used) / allowed)}
                  color={used >= NEAR * allowed ? 'orange' : 'teal'}
                  aria-label={t('memos.of', { used, allowed })}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Figures>
      )}
    </Section>
  )
}
