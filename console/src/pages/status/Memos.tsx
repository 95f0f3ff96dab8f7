/** Used and allowed tokens of the resident memo of each knowledge base, and its lines (CO-16, CO-66). */
import { Button, Progress, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useBaseName } from '../../ui/baseName'
import { MemoLines } from './MemoLines'
import { Figures, Section } from './Section'
import type { Status } from './StatusPage'

const NEAR = 0.9

type Memo = Status['memos'][number]

export function Memos({ memos }: { memos: readonly Memo[] }) {
  const { t } = useTranslation('status')
  const heads = [t('memos.base'), t('memos.tokens'), t('memos.share'), t('memos.lines')]
  return (
    <Section id="memos" title={t('memos.title')}>
      {memos.length === 0 ? (
        <Text>{t('memos.none')}</Text>
      ) : (
        <Figures label={t('memos.title')} heads={heads} minWidth={480}>
          {memos.map((memo) => (
            <Row key={memo.knowledgeBase.id} memo={memo} />
          ))}
        </Figures>
      )}
    </Section>
  )
}

function Row({ memo: { used, allowed, memoId, knowledgeBase } }: { memo: Memo }) {
  const { t } = useTranslation('status')
  const base = useBaseName()(knowledgeBase)
  const [opened, setOpened] = useState(false)
  return (
    <Table.Tr>
      <Table.Th scope="row">{base}</Table.Th>
      <Table.Td>{t('memos.of', { used, allowed })}</Table.Td>
      <Table.Td>
        <Progress
          value={Math.min(100, (100 * used) / allowed)}
          color={used >= NEAR * allowed ? 'orange' : 'teal'}
          aria-label={t('memos.of', { used, allowed })}
        />
      </Table.Td>
      <Table.Td>
        {memoId !== null && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={t('memos.showOf', { base })}
            onClick={() => setOpened(true)}
          >
            {t('memos.show')}
          </Button>
        )}
        {memoId !== null && opened && <MemoLines id={memoId} base={base} onClose={() => setOpened(false)} />}
      </Table.Td>
    </Table.Tr>
  )
}
