/** Why somebody sees a node: every node of its chain, the rules that it has, and whether they are passed. */
import { List, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { Remote } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { known, useLabel } from './labels'
import { NAMED, type TraceNode, WHY_VISIBLE } from './queries'

type Proof = NonNullable<ResultOf<typeof WHY_VISIBLE>['explainVisibility']>
type ProofNode = Proof['nodes'][number]

export function WhyVisible({ id, nodes }: { id: string; nodes: ReadonlyMap<string, TraceNode> }) {
  const { t } = useTranslation('trace')
  const read = useRead(WHY_VISIBLE, { id })
  return (
    <section aria-label={t('why.title')}>
      <Title order={3} size="h5">
        {t('why.title')}
      </Title>
      <Remote read={read} pick={(data) => data.explainVisibility}>
        {(proof) => (
          <>
            <Text size="sm" mb="xs">
              {proof.visible ? t('why.intro') : t('why.hidden')}
            </Text>
            <List size="sm" spacing={4}>
              {proof.nodes.map((one) => (
                <List.Item key={one.id} ps={one.depth * 12} icon={one.passed ? '✓' : '✗'}>
                  <OneNode proof={one} node={nodes.get(one.id)} />
                </List.Item>
              ))}
            </List>
            {proof.truncated && <Text size="sm">{t('why.truncated')}</Text>}
          </>
        )}
      </Remote>
    </section>
  )
}

function OneNode({ proof, node }: { proof: ProofNode; node: TraceNode | undefined }) {
  const { t } = useTranslation('trace')
  const labelOf = useLabel()
  const label = node && labelOf(node)
  const rules = proof.rules ?? []
  return (
    <>
      <strong>{label?.kind ?? t(`kinds.${known(proof.kind)}`)}</strong> {label && <Told>{label.text}</Told>} –{' '}
      {proof.passed ? t('why.passed') : t('why.failed')}
      {': '}
      {rules.length === 0
        ? t('why.noRules')
        : rules.map((rule, place) => <OneRule key={place} kind={rule.kind} object={rule.objectId} />)}
    </>
  )
}

const NAMED_RULES = ['SHARED', 'AGENT', 'CHANNEL', 'PRIVATE'] as const

function OneRule({ kind, object }: { kind: string; object: string }) {
  const { t } = useTranslation('trace')
  const read = useRead(NAMED, { id: object }, { pause: object.includes(':') || object === '' })
  const found = read.data?.node
  const name =
    found?.__typename === 'Principal'
      ? found.displayName
      : found?.__typename === 'Channel'
        ? found.channelName
        : ''
  const word = NAMED_RULES.find((one) => one === kind)
  const what = name === '' ? '…' : name
  return <span>{word ? t(`why.rules.${word}`, { what }) : t('why.rules.OTHER', { kind, what })} </span>
}
