/** The operations that the audit of knowledge knows (KN-84), in the order in which they are offered. */
export const OPERATIONS = [
  'entry.create',
  'entry.rename',
  'entry.set_type',
  'entry.set_summary',
  'entry.set_aliases',
  'entry.set_attributes',
  'entry.mark_distinct',
  'entry.delete',
  'block.create',
  'block.edit',
  'block.move',
  'block.delete',
  'relation.add',
  'relation.add_evidence',
  'relation.remove',
  'memo.write',
  'lesson.add',
  'lesson.edit',
  'lesson.delete',
  'guide.write',
  'mirror.sync',
  'mirror.withdraw',
  'source.withdraw',
  'source.return',
  'source.erase',
  'access.read',
  'restore',
] as const

export type Operation = (typeof OPERATIONS)[number]

type Dotless<O extends string> = O extends `${infer Kind}.${infer Step}` ? `${Kind}_${Step}` : O
export type OperationKey = Dotless<Operation>

/** The key of an operation's name in the texts; undefined for one that is newer than this console. */
export function operationKey(operation: string): OperationKey | undefined {
  const known = OPERATIONS.some((one) => one === operation)
  return known ? (operation.replace('.', '_') as OperationKey) : undefined
}
