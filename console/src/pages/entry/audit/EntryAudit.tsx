/** What was done to the entry, its blocks and relations, newest first, with the words that changed (CO-23). */
import { Accordion, Anchor, Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { graphql, type ResultOf } from '../../../api/graphql'
import { usePages } from '../../../api/usePages'
import { useOwner } from '../../../app/owner'
import { auditRecordPath } from '../../../app/paths'
import { Rows } from '../../../ui/Rows'
import { Told } from '../../../ui/Told'
import { When } from '../../../ui/When'
import { LINE } from '../../audit/documents'
import { ImageDiff } from '../../audit/ImageDiff'
import { OperationName } from '../../audit/OperationName'
import { useOpenEntry } from '../entry'

const AUDIT = graphql(
  `
    query EntryAudit($id: ID!, $after: String) {
      entry(id: $id) {
        audit(first: 20, after: $after) {
          totalCount
          pageInfo {
            hasNextPage
            endCursor
          }
          edges {
            node {
              ...AuditLine
              before
              after
            }
          }
        }
      }
    }
  `,
  [LINE],
)

type Entry = NonNullable<ResultOf<typeof AUDIT>['entry']>
type Step = Entry['audit']['edges'][number]['node']

export function EntryAudit() {
  const { entry } = useOpenEntry()
  const pages = usePages(AUDIT, { id: entry.id, after: null }, (data) => data.entry?.audit)
  return (
    <Rows pages={pages}>
      {(rows) => (
        <Accordion multiple variant="separated" order={3}>
          {rows.map((step) => (
            <OneStep key={step.id} step={step} />
          ))}
        </Accordion>
      )}
    </Rows>
  )
}

function OneStep({ step }: { step: Step }) {
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  return (
    <Accordion.Item value={step.id}>
      <Accordion.Control>
        <Group gap="xs">
          <Text component="span" size="sm" c="dimmed">
            #{step.seq}
          </Text>
          <Text component="span" fw={600}>
            <OperationName of={step.operation} />
          </Text>
          <Text component="span" size="sm">
            {ui(`actor.${step.actorKind}`)} <Told>{step.actor.displayName}</Told> ·{' '}
            <When at={step.recordedAt} />
          </Text>
          {step.reason !== null && step.reason !== '' && (
            <Text component="span" size="sm" c="dimmed">
              <Told>{step.reason}</Told>
            </Text>
          )}
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <ImageDiff before={step.before} after={step.after} />
        <Anchor component={Link} to={auditRecordPath(owner.id, step.id)} size="sm">
          {t('audit.open')}
        </Anchor>
      </Accordion.Panel>
    </Accordion.Item>
  )
}
