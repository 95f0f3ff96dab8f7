/** Relations to other entries, each with the words that say it (CO-14, CO-28). */
import { Anchor, Button, Group, Paper, Radio, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { FragmentOf } from '../../../api/graphql'
import type { Pages } from '../../../api/usePages'
import { useOwner } from '../../../app/owner'
import { entryPath } from '../../../app/paths'
import { useApply } from '../../../ui/apply'
import { Citations } from '../../../ui/Citations'
import { Mark } from '../../../ui/Mark'
import { ReasonModal } from '../../../ui/ReasonModal'
import { Rows } from '../../../ui/Rows'
import { Told } from '../../../ui/Told'
import { TraceLink } from '../../../ui/TraceLink'
import { useReturning } from '../../../ui/useReturning'
import { isWhen, useValidity } from '../../../ui/validity'
import { WhenInput } from '../../../ui/WhenInput'
import { type Relation, relationOf, useOpenEntry } from '../entry'
import type { RELATION } from '../queries'
import { removeRelation } from './operations'
import { RelationForm } from './RelationForm'

export function RelationList({ pages }: { pages: Pages<FragmentOf<typeof RELATION>> }) {
  const { t } = useTranslation('entry')
  const { mayEdit, reload } = useOpenEntry()
  const [adding, setAdding] = useState(false)
  const opener = useReturning(adding)
  const added = () => {
    setAdding(false)
    reload()
  }
  return (
    <section aria-labelledby="relations-title">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5" id="relations-title">
          {t('relation.title')}
        </Title>
        {mayEdit && !adding && (
          <Button ref={opener} variant="default" size="xs" onClick={() => setAdding(true)}>
            {t('relation.add')}
          </Button>
        )}
      </Group>
      {adding && <RelationForm onDone={added} onCancel={() => setAdding(false)} />}
      <Rows pages={pages} empty={t('relation.none')}>
        {(rows) => (
          <Stack gap="xs">
            {rows.map(relationOf).map((one) => (
              <RelationCard key={one.id} relation={one} onTried={reload} />
            ))}
          </Stack>
        )}
      </Rows>
    </section>
  )
}

function RelationCard({ relation, onTried }: { relation: Relation; onTried: () => void }) {
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const { mayEdit } = useOpenEntry()
  const validity = useValidity()(relation)
  const [removing, setRemoving] = useState(false)
  const words = `${relation.subject.name} ${relation.relationType} ${relation.object.name}`
  return (
    <Paper withBorder p="sm" component="article" aria-label={words}>
      <Group gap={6}>
        <End of={relation.subject} />
        <Text component="span" ff="monospace" size="sm">
          {relation.relationType}
        </Text>
        <End of={relation.object} />
        {validity !== '' && <Mark sign="◷">{validity}</Mark>}
        {relation.stale && <Mark sign="⌛">{ui('stale')}</Mark>}
      </Group>
      <Citations of={relation.evidence} />
      <Group gap="md" mt="xs">
        <TraceLink node={relation.id} what={words} />
        {mayEdit && (
          <Button variant="subtle" size="compact-sm" onClick={() => setRemoving(true)}>
            {t('relation.remove')}
          </Button>
        )}
      </Group>
      {removing && (
        <Remove relation={relation} onClose={() => setRemoving(false)} onTried={onTried} words={words} />
      )}
    </Paper>
  )
}

function End({ of }: { of: { id: string; name: string } }) {
  const owner = useOwner()
  return (
    <Anchor component={Link} to={entryPath(owner.id, of.id)}>
      <Told>{of.name}</Told>
    </Anchor>
  )
}

/** It was so and ended, or it was never so: the user must say which (KN-31). */
function Remove({
  relation,
  words,
  onClose,
  onTried,
}: {
  relation: Relation
  words: string
  onClose: () => void
  onTried: () => void
}) {
  const { t } = useTranslation('entry')
  const { entry } = useOpenEntry()
  const [how, setHow] = useState<'ended' | 'retracted'>()
  const [to, setTo] = useState('')
  const [missing, setMissing] = useState(false)
  const apply = useApply()
  const confirm = async (reason: string) => {
    setMissing(how === undefined)
    if (how === undefined) return
    const operations = [removeRelation(relation.id, relation.version, how, to)]
    if (await apply.run({ kb: entry.knowledgeBase.id, operations, reason })) onClose()
    // Of a refusal too: who tries again takes away what he then sees (CO-29).
    onTried()
  }
  return (
    <ReasonModal
      title={t('relation.removeTitle')}
      action={t('relation.remove')}
      write={apply}
      ready={how !== 'ended' || isWhen(to)}
      onClose={onClose}
      onConfirm={(reason) => void confirm(reason)}
    >
      <Told>{words}</Told>
      <Radio.Group
        label={t('relation.how')}
        required
        value={how ?? null}
        onChange={(chosen) => setHow(chosen)}
        error={missing && how === undefined ? t('relation.howMissing') : undefined}
      >
        <Stack gap={6} mt={4}>
          <Radio value="ended" label={t('relation.ended')} />
          <Radio value="retracted" label={t('relation.retracted')} />
        </Stack>
      </Radio.Group>
      {how === 'ended' && (
        <WhenInput
          label={t('relation.endedAt')}
          description={t('relation.endedAtHint')}
          value={to}
          onChange={setTo}
        />
      )}
    </ReasonModal>
  )
}
