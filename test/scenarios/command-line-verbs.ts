// Every command of the command line once, in an order in which each has something to do; used by the suite of the command line.

/** One invocation and what it must do. */
export interface Verb {
  readonly args: string
  /** Default 0. */
  readonly status?: number
  /** Of standard output, or of standard error where the invocation fails. */
  readonly says: RegExp
  /** Typed on standard input. */
  readonly input?: string
  /** Tried again until it does and says that: something else has to come first. */
  readonly later?: boolean
}

const verb = (args: string, says: RegExp, more: Partial<Verb> = {}): Verb => ({ args, says, ...more })

/** The link and its properties, and topics of the source before there are mirrors. */
export const linkVerbs = (bootstrap: string, clusterId: string): readonly Verb[] => {
  const there = `--source-bootstrap-server ${bootstrap}`
  return [
    verb(`link preflight west ${there}`, /The link can be created/),
    verb('link preflight --source-bootstrap-server 127.0.0.1:1', /checks? failed/, { status: 1 }),
    verb(`link create west ${there} --dry-run`, /^\[DRY RUN\] Created cluster link "west" with configs:\n"bootstrap/),
    verb('link describe west', /^Error: cluster link "west" not found\n$/, { status: 1 }),
    verb(
      `link create west ${there} --source-cluster ${clusterId} --config metadata.max.age.ms=1000`,
      /^Created cluster link "west" with configs:\n"bootstrap.servers"=".*"\n"link.mode"="DESTINATION"\n"metadata/,
    ),
    verb(`link create west ${there}`, /^Error: .*already exists/, { status: 1 }),
    verb(`link create copies ${there} --config link.prefix=copy.`, /"cluster\.link\.prefix"="copy\."/),
    verb('link list', new RegExp(`^Name +ID .*\\n[^]*west +\\S{22} +${clusterId} +ACTIVE`)),
    verb('link list --include-topics -o json', /^\[\]\n$/),
    verb('link describe west', /State +ACTIVE/),
    verb('link configuration list west', /dest\.cluster\.id +\S{22} +true +true/),
    verb('link configuration update west --config acl.sync.ms=7000', /^Updated cluster link "west"\.\n$/),
    verb('link update west --reset acl.sync.ms --dry-run', /^\[DRY RUN\] Updated/),
    verb('link task list west', /ConsumerOffsetSync +\S+/),
    verb('link task run west TopicConfigsSync', /was started/),
    verb('link source-topics west --not-mirrored', /orders/),
    verb('explain orders --link west', /Topic "orders" over link "west": /),
  ]
}

/** Mirrors of `orders`, `payments` and `returns`, whose records are there already. */
export const mirrorVerbs: readonly Verb[] = [
  verb('mirror create orders --link west', /^Created mirror topic "orders"\.\n$/),
  verb('mirror create payments --link west --replication-factor 1', /^Created/),
  verb('mirror create copy.returns --source-topic returns --link copies', /^Created/),
  verb('mirror create orders --link west', /^Error: .*already exists/, { status: 1 }),
  verb('mirror list --link copies', /copies +copy\.returns +returns +ACTIVE/),
  verb('mirror list --mirror-status stopped', /^No mirror topics\.\n$/),
  verb('mirror describe orders --link west', /orders +orders +ACTIVE +NO_ERROR +\d+ +1 +0 +\d+\n/, { later: true }),
  verb('explain orders --mirror --link west', /Condition/),
  verb('mirror pause orders nothing --link west', /^Error: 1 of 2 topics was refused\n$/, { status: 3 }),
  verb('mirror history orders --link west', /PAUSED +ACTIVE +pause/),
  verb('mirror resume orders --link west', /orders/),
  verb('mirror update orders --config compression.type=producer --link west', /^Updated topic "orders"/),
  verb('verify orders payments --link west', /Source and mirror are equal: \d+ offsets/, { later: true }),
  verb('verify nothing --link west', /^Error: /, { status: 1 }),
  verb('top --once', /^LINK +TOPIC +PARTS +STATUS +LAG +TIME +RECORDS\/S +BYTES\/S\n/),
  verb('events --after 0 --type state --max 1 -o json', /^\{("id":"[^"]+",)?"type":"(state|missed)"/),
  verb('group list --link west', /^No groups\.\n$/),
  verb('group adopt nobody --link west', /^Error: /, { status: 1 }),
  verb('acl list --link west', /^No ACLs\.\n$/),
  verb('mirror promote orders --link west --dry-run', /orders/),
  verb('mirror promote orders --link west --wait=110s', /orders/),
  verb('mirror state-transition-error list orders --link west', /^There are no errors\.\n$/),
  verb('mirror failover --pattern pay.* --link west --wait=110s', /payments +0 +/),
  verb('mirror failover payments --link west', /^Error: 1 of 1 topic was refused/, { status: 1 }),
  verb('mirror reverse-and-start orders --link west', /^Error: 1 of 1 topic was refused\n$/, { status: 1 }),
  verb('mirror reverse-and-pause orders --link west', /^Error: 1 of 1 topic was refused\n$/, { status: 1 }),
  verb('mirror truncate-and-restore orders --link west', /^Error: /, { status: 1 }),
]

/** Groups, topics, nodes, what asks no node; then everything is removed. */
export const otherVerbs: readonly Verb[] = [
  verb('consumer-group list', /readers/),
  verb('consumer-group lag readers', /orders +0 +\d+ +\d+ +\d+/),
  verb('topic create plain --partitions 3', /^Created topic "plain"\.\n$/),
  verb('topic list', /plain +\S{22} +3 +1 +false/),
  verb('topic update plain --config retention.ms=3600000', /^Updated topic "plain"/),
  verb('topic describe plain', /retention\.ms +3600000/),
  verb('topic update plain --config nonsense=1', /^Error: /, { status: 1 }),
  verb('topic delete plain', /^Deleted topic "plain"\.\n$/),
  verb('node list', /1 +STANDALONE +\S+ +HEALTHY/),
  verb('node placement', /^Everything is where it belongs\.\n$/),
  verb('mirror move copy.returns --to 1 --link copies', /^Error: this node is standalone/, { status: 1 }),
  verb('node drain 1', /^Error: node 1 is standalone/, { status: 1 }),
  verb('node unregister 1', /^Error: node 1 is standalone/, { status: 1 }),
  verb('user hash alice', /^alice: \S+\n$/, { input: 'secret\n' }),
  verb('tail read src/cli/fakes/cut-off.log', /cut-off\.log +10 +\S+ \S+ +aborted +c +paid/),
  verb('completion bash', /complete -F _lockstep/),
  verb('completion zsh', /#compdef lockstep/),
  verb('completion fish', /complete -c lockstep/),
  verb('link delete copies', /^Error: /, { status: 1 }),
  verb('link delete copies --fail-over-mirrors --force', /failed over: copy\.returns/),
  verb('link delete west nothing', /Error: cluster link "nothing" not found\nError: 1 of 2 links were not deleted\n$/, {
    status: 3,
  }),
]
