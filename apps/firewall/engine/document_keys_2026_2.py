"""Keys that OpenClaw 2026.2 reads in `openclaw.json`, by the path of their object; `known_keys` reads this table.

`*` in a path stands for any key, `[]` for any item of a list; `*` among the keys says that others are taken, too. Lines
that begin with blanks go on. An object that is not named here belongs to a plugin, or is checked by its shape.
Source: the schema of the configuration in the released package.
"""

from typing import Final

KEYS: Final = """\
: $schema agents approvals audio auth bindings broadcast browser canvasHost channels commands cron diagnostics
  discovery env gateway hooks logging media memory messages meta models nodeHost plugins session skills talk tools ui
  update web wizard
agents: defaults list
agents.defaults: blockStreamingBreak blockStreamingChunk blockStreamingCoalesce blockStreamingDefault
  bootstrapMaxChars bootstrapTotalMaxChars cliBackends compaction contextPruning contextTokens elevatedDefault
  envelopeElapsed envelopeTimestamp envelopeTimezone heartbeat humanDelay imageMaxDimensionPx imageModel maxConcurrent
  mediaMaxMb memorySearch model models repoRoot sandbox skipBootstrap subagents thinkingDefault timeFormat
  timeoutSeconds typingIntervalSeconds typingMode userTimezone verboseDefault workspace
agents.defaults.blockStreamingChunk: breakPreference maxChars minChars
agents.defaults.blockStreamingCoalesce: idleMs maxChars minChars
agents.defaults.cliBackends.*: args clearEnv command env imageArg imageMode input maxPromptArgChars modelAliases
  modelArg output reliability resumeArgs resumeOutput serialize sessionArg sessionArgs sessionIdFields sessionMode
  systemPromptArg systemPromptMode systemPromptWhen
agents.defaults.compaction: keepRecentTokens maxHistoryShare memoryFlush mode reserveTokens reserveTokensFloor
agents.defaults.compaction.memoryFlush: enabled prompt softThresholdTokens systemPrompt
agents.defaults.contextPruning: hardClear hardClearRatio keepLastAssistants minPrunableToolChars mode softTrim
  softTrimRatio tools ttl
agents.defaults.contextPruning.hardClear: enabled placeholder
agents.defaults.contextPruning.softTrim: headChars maxChars tailChars
agents.defaults.contextPruning.tools: allow deny
agents.defaults.heartbeat: accountId ackMaxChars activeHours directPolicy every includeReasoning model prompt session
  suppressToolErrorWarnings target to
agents.defaults.heartbeat.activeHours: end start timezone
agents.defaults.humanDelay: maxMs minMs mode
agents.defaults.imageModel: fallbacks primary
agents.defaults.memorySearch: cache chunking enabled experimental extraPaths fallback local model provider query
  remote sources store sync
agents.defaults.memorySearch.cache: enabled maxEntries
agents.defaults.memorySearch.chunking: overlap tokens
agents.defaults.memorySearch.experimental: sessionMemory
agents.defaults.memorySearch.local: modelCacheDir modelPath
agents.defaults.memorySearch.query: hybrid maxResults minScore
agents.defaults.memorySearch.remote: apiKey baseUrl batch headers
agents.defaults.memorySearch.store: driver path vector
agents.defaults.memorySearch.sync: intervalMinutes onSearch onSessionStart sessions watch watchDebounceMs
agents.defaults.model: fallbacks primary
agents.defaults.models.*: alias params streaming
agents.defaults.sandbox: browser docker mode perSession prune scope sessionToolsVisibility workspaceAccess
  workspaceRoot
agents.defaults.sandbox.browser: allowHostControl autoStart autoStartTimeoutMs binds cdpPort cdpSourceRange
  containerPrefix enabled enableNoVnc headless image network noVncPort vncPort
agents.defaults.sandbox.docker: apparmorProfile binds capDrop containerPrefix cpus
  dangerouslyAllowContainerNamespaceJoin dangerouslyAllowExternalBindSources dangerouslyAllowReservedContainerTargets
  dns env extraHosts image memory memorySwap network pidsLimit readOnlyRoot seccompProfile setupCommand tmpfs ulimits
  user workdir
agents.defaults.sandbox.prune: idleHours maxAgeDays
agents.defaults.subagents: announceTimeoutMs archiveAfterMinutes maxChildrenPerAgent maxConcurrent maxSpawnDepth model
  runTimeoutSeconds thinking
agents.defaults.subagents.model: fallbacks primary
agents.entries.*: agentDir default groupChat heartbeat humanDelay id identity memorySearch model name sandbox skills
  subagents tools workspace
agents.entries.*.groupChat: historyLimit mentionPatterns
agents.entries.*.heartbeat: accountId ackMaxChars activeHours directPolicy every includeReasoning model prompt session
  suppressToolErrorWarnings target to
agents.entries.*.humanDelay: maxMs minMs mode
agents.entries.*.identity: avatar emoji name theme
agents.entries.*.memorySearch: cache chunking enabled experimental extraPaths fallback local model provider query
  remote sources store sync
agents.entries.*.model: fallbacks primary
agents.entries.*.sandbox: browser docker mode perSession prune scope sessionToolsVisibility workspaceAccess
  workspaceRoot
agents.entries.*.subagents: allowAgents model thinking
agents.entries.*.tools: allow alsoAllow byProvider deny elevated exec fs loopDetection profile sandbox
agents.entries.*.tools.elevated: allowFrom enabled
agents.entries.*.tools.exec: applyPatch approvalRunningNoticeMs ask backgroundMs cleanupMs host node notifyOnExit
  notifyOnExitEmptySuccess pathPrepend safeBinProfiles safeBins safeBinTrustedDirs security timeoutSec
agents.entries.*.tools.exec.applyPatch: allowModels enabled workspaceOnly
agents.entries.*.tools.fs: workspaceOnly
agents.entries.*.tools.loopDetection: criticalThreshold detectors enabled globalCircuitBreakerThreshold historySize
  warningThreshold
agents.entries.*.tools.loopDetection.detectors: genericRepeat knownPollNoProgress pingPong
agents.entries.*.tools.sandbox: tools
agents.entries.*.tools.sandbox.tools: allow alsoAllow deny
approvals: exec
approvals.exec: agentFilter enabled mode sessionFilter targets
approvals.exec.targets.[]: accountId channel threadId to
audio: transcription
audio.transcription: command timeoutSeconds
auth: cooldowns order profiles
auth.cooldowns: billingBackoffHours billingBackoffHoursByProvider billingMaxHours failureWindowHours
auth.profiles.*: email mode provider
bindings.[]: agentId comment match
bindings.[].match: accountId channel guildId peer roles teamId
broadcast: * strategy
browser: attachOnly cdpUrl color defaultProfile enabled evaluateEnabled executablePath headless noSandbox profiles
  remoteCdpHandshakeTimeoutMs remoteCdpTimeoutMs snapshotDefaults ssrfPolicy
browser.profiles.*: cdpPort cdpUrl color driver
browser.snapshotDefaults: mode
browser.ssrfPolicy: allowedHostnames allowPrivateNetwork dangerouslyAllowPrivateNetwork hostnameAllowlist
canvasHost: enabled liveReload port root
channels: * bluebubbles defaults discord googlechat imessage irc modelByChannel msteams signal slack telegram whatsapp
channels.bluebubbles: accounts actions allowFrom blockStreaming blockStreamingCoalesce capabilities chunkMode
  configWrites dmHistoryLimit dmPolicy dms enabled groupAllowFrom groupPolicy groups heartbeat historyLimit markdown
  mediaLocalRoots mediaMaxMb name password responsePrefix sendReadReceipts serverUrl textChunkLimit webhookPath
channels.bluebubbles.dms.*: historyLimit
channels.bluebubbles.groups.*: requireMention tools toolsBySender
channels.defaults: groupPolicy heartbeat
channels.discord: accounts ackReaction actions activity activityType activityUrl allowBots allowFrom blockStreaming
  blockStreamingCoalesce capabilities chunkMode commands configWrites dangerouslyAllowNameMatching defaultTo dm
  dmHistoryLimit dmPolicy dms draftChunk enabled execApprovals groupPolicy guilds heartbeat historyLimit intents
  markdown maxLinesPerMessage mediaMaxMb name pluralkit proxy replyToMode responsePrefix retry slashCommand status
  streaming streamMode textChunkLimit threadBindings token ui voice
channels.discord.commands: native nativeSkills
channels.discord.dm: allowFrom enabled groupChannels groupEnabled policy
channels.discord.dms.*: historyLimit
channels.discord.execApprovals: agentFilter approvers cleanupAfterResolve enabled sessionFilter target
channels.discord.guilds.*: channels reactionNotifications requireMention roles slug tools toolsBySender users
channels.discord.guilds.*.channels.*: allow autoThread enabled includeThreadStarter requireMention roles skills
  systemPrompt tools toolsBySender users
channels.discord.pluralkit: enabled token
channels.discord.slashCommand: ephemeral
channels.discord.threadBindings: enabled spawnSubagentSessions ttlHours
channels.googlechat: accounts actions allowBots audience audienceType blockStreaming blockStreamingCoalesce botUser
  capabilities chunkMode configWrites dangerouslyAllowNameMatching defaultAccount defaultTo dm dmHistoryLimit dms
  enabled groupAllowFrom groupPolicy groups historyLimit mediaMaxMb name replyToMode requireMention responsePrefix
  serviceAccount serviceAccountFile streamMode textChunkLimit typingIndicator webhookPath webhookUrl
channels.googlechat.dm: allowFrom enabled policy
channels.googlechat.dms.*: historyLimit
channels.googlechat.groups.*: allow enabled requireMention systemPrompt users
channels.imessage: accounts allowFrom attachmentRoots blockStreaming blockStreamingCoalesce capabilities chunkMode
  cliPath configWrites dbPath defaultTo dmHistoryLimit dmPolicy dms enabled groupAllowFrom groupPolicy groups
  heartbeat historyLimit includeAttachments markdown mediaMaxMb name region remoteAttachmentRoots remoteHost
  responsePrefix service textChunkLimit
channels.imessage.dms.*: historyLimit
channels.imessage.groups.*: requireMention tools toolsBySender
channels.irc: accounts allowFrom blockStreaming blockStreamingCoalesce capabilities channels chunkMode configWrites
  defaultTo dmHistoryLimit dmPolicy dms enabled groupAllowFrom groupPolicy groups heartbeat historyLimit host markdown
  mediaMaxMb mentionPatterns name nick nickserv password passwordFile port realname responsePrefix textChunkLimit tls
  username
channels.irc.dms.*: historyLimit
channels.irc.groups.*: allowFrom enabled requireMention skills systemPrompt tools toolsBySender
channels.irc.nickserv: enabled password passwordFile register registerEmail service
channels.msteams: allowFrom appId appPassword blockStreamingCoalesce capabilities chunkMode configWrites
  dangerouslyAllowNameMatching defaultTo dmHistoryLimit dmPolicy dms enabled groupAllowFrom groupPolicy heartbeat
  historyLimit markdown mediaAllowHosts mediaAuthAllowHosts mediaMaxMb replyStyle requireMention responsePrefix
  sharePointSiteId teams tenantId textChunkLimit webhook
channels.msteams.dms.*: historyLimit
channels.msteams.teams.*: channels replyStyle requireMention tools toolsBySender
channels.msteams.teams.*.channels.*: replyStyle requireMention tools toolsBySender
channels.msteams.webhook: path port
channels.signal: account accounts actions allowFrom autoStart blockStreaming blockStreamingCoalesce capabilities
  chunkMode cliPath configWrites defaultTo dmHistoryLimit dmPolicy dms enabled groupAllowFrom groupPolicy heartbeat
  historyLimit httpHost httpPort httpUrl ignoreAttachments ignoreStories markdown mediaMaxMb name reactionAllowlist
  reactionLevel reactionNotifications receiveMode responsePrefix sendReadReceipts startupTimeoutMs textChunkLimit
channels.signal.dms.*: historyLimit
channels.slack: accounts ackReaction actions allowBots allowFrom appToken blockStreaming blockStreamingCoalesce
  botToken capabilities channels chunkMode commands configWrites dangerouslyAllowNameMatching defaultTo dm
  dmHistoryLimit dmPolicy dms enabled groupPolicy heartbeat historyLimit markdown mediaMaxMb mode name nativeStreaming
  reactionAllowlist reactionNotifications replyToMode replyToModeByChatType requireMention responsePrefix
  signingSecret slashCommand streaming streamMode textChunkLimit thread userToken userTokenReadOnly webhookPath
channels.slack.channels.*: allow allowBots enabled requireMention skills systemPrompt tools toolsBySender users
channels.slack.commands: native nativeSkills
channels.slack.dm: allowFrom enabled groupChannels groupEnabled policy replyToMode
channels.slack.dms.*: historyLimit
channels.slack.replyToModeByChatType: channel direct group
channels.slack.slashCommand: enabled ephemeral name sessionPrefix
channels.slack.thread: historyScope inheritParent initialHistoryLimit
channels.telegram: accounts ackReaction actions allowFrom blockStreaming blockStreamingCoalesce botToken capabilities
  chunkMode commands configWrites customCommands defaultTo dmHistoryLimit dmPolicy dms draftChunk enabled
  groupAllowFrom groupPolicy groups heartbeat historyLimit linkPreview markdown mediaMaxMb name network proxy
  reactionLevel reactionNotifications replyToMode responsePrefix retry streaming streamMode textChunkLimit
  timeoutSeconds tokenFile webhookHost webhookPath webhookPort webhookSecret webhookUrl
channels.telegram.capabilities: inlineButtons
channels.telegram.commands: native nativeSkills
channels.telegram.customCommands.[]: command description
channels.telegram.dms.*: historyLimit
channels.telegram.groups.*: allowFrom enabled groupPolicy requireMention skills systemPrompt tools toolsBySender
  topics
channels.telegram.groups.*.topics.*: allowFrom enabled groupPolicy requireMention skills systemPrompt
channels.whatsapp: accounts ackReaction actions allowFrom blockStreaming blockStreamingCoalesce capabilities chunkMode
  configWrites debounceMs defaultTo dmHistoryLimit dmPolicy dms enabled groupAllowFrom groupPolicy groups heartbeat
  historyLimit markdown mediaMaxMb messagePrefix responsePrefix selfChatMode sendReadReceipts textChunkLimit
channels.whatsapp.ackReaction: direct emoji group
channels.whatsapp.dms.*: historyLimit
channels.whatsapp.groups.*: requireMention tools toolsBySender
commands: allowFrom bash bashForegroundMs config debug native nativeSkills ownerAllowFrom ownerDisplay
  ownerDisplaySecret restart text useAccessGroups
cron: enabled maxConcurrentRuns runLog sessionRetention store webhook webhookToken
cron.runLog: keepLines maxBytes
diagnostics: cacheTrace enabled flags otel
diagnostics.cacheTrace: enabled filePath includeMessages includePrompt includeSystem
diagnostics.otel: enabled endpoint flushIntervalMs headers logs metrics protocol sampleRate serviceName traces
discovery: mdns wideArea
discovery.mdns: mode
discovery.wideArea: enabled
env: * shellEnv vars
env.shellEnv: enabled timeoutMs
gateway: allowRealIpFallback auth bind channelHealthCheckMinutes controlUi customBindHost http mode nodes port reload
  remote tailscale tls tools trustedProxies
gateway.auth: allowTailscale mode password rateLimit token trustedProxy
gateway.auth.rateLimit: exemptLoopback lockoutMs maxAttempts windowMs
gateway.auth.trustedProxy: allowUsers requiredHeaders userHeader
gateway.controlUi: allowedOrigins allowInsecureAuth basePath dangerouslyAllowHostHeaderOriginFallback
  dangerouslyDisableDeviceAuth enabled root
gateway.http: endpoints securityHeaders
gateway.http.endpoints: chatCompletions responses
gateway.http.securityHeaders: strictTransportSecurity
gateway.nodes: allowCommands browser denyCommands
gateway.nodes.browser: mode node
gateway.reload: debounceMs mode
gateway.remote: password sshIdentity sshTarget tlsFingerprint token transport url
gateway.tailscale: mode resetOnExit
gateway.tls: * autoGenerate caPath certPath enabled keyPath
gateway.tools: allow deny
hooks: allowedAgentIds allowedSessionKeyPrefixes allowRequestSessionKey defaultSessionKey enabled gmail internal
  mappings maxBodyBytes path presets token transformsDir
hooks.gmail: account allowUnsafeExternalContent hookUrl includeBody label maxBytes model pushToken renewEveryMinutes
  serve subscription tailscale thinking topic
hooks.gmail.serve: bind path port
hooks.gmail.tailscale: mode path target
hooks.internal: enabled entries handlers installs load
hooks.internal.load: extraDirs
hooks.mappings.[]: action agentId allowUnsafeExternalContent channel deliver id match messageTemplate model name
  sessionKey textTemplate thinking timeoutSeconds to transform wakeMode
logging: consoleLevel consoleStyle file level maxFileBytes redactPatterns redactSensitive
media: preserveFilenames
memory: backend citations qmd
memory.qmd: command includeDefaultMemory limits mcporter paths scope searchMode sessions update
memory.qmd.limits: maxInjectedChars maxResults maxSnippetChars timeoutMs
memory.qmd.mcporter: enabled serverName startDaemon
memory.qmd.scope: default rules
memory.qmd.sessions: enabled exportDir retentionDays
memory.qmd.update: commandTimeoutMs debounceMs embedInterval embedTimeoutMs interval onBoot updateTimeoutMs
  waitForBootSync
messages: ackReaction ackReactionScope groupChat inbound messagePrefix queue removeAckAfterReply responsePrefix
  statusReactions suppressToolErrors tts
messages.groupChat: historyLimit mentionPatterns
messages.inbound: byChannel debounceMs
messages.queue: byChannel cap debounceMs debounceMsByChannel drop mode
messages.queue.byChannel: discord imessage irc mattermost msteams signal slack telegram webchat whatsapp
messages.statusReactions: emojis enabled timing
messages.statusReactions.emojis: coding done error stallHard stallSoft thinking tool web
messages.statusReactions.timing: debounceMs doneHoldMs errorHoldMs stallHardMs stallSoftMs
messages.tts: auto edge elevenlabs enabled maxTextLength mode modelOverrides openai prefsPath provider summaryModel
  timeoutMs
messages.tts.edge: enabled lang outputFormat pitch proxy rate saveSubtitles timeoutMs voice volume
messages.tts.elevenlabs: apiKey applyTextNormalization baseUrl languageCode modelId seed voiceId voiceSettings
messages.tts.modelOverrides: allowModelId allowNormalization allowProvider allowSeed allowText allowVoice
  allowVoiceSettings enabled
messages.tts.openai: apiKey model voice
meta: lastTouchedAt lastTouchedVersion
models: bedrockDiscovery mode providers
models.bedrockDiscovery: defaultContextWindow defaultMaxTokens enabled providerFilter refreshInterval region
models.providers.*: api apiKey auth authHeader baseUrl headers models
nodeHost: browserProxy
nodeHost.browserProxy: allowProfiles enabled
plugins: allow deny enabled entries installs load slots
plugins.entries.*: config enabled
plugins.installs.*: installedAt installPath integrity resolvedAt resolvedName resolvedSpec resolvedVersion shasum
  source sourcePath spec version
plugins.load: paths
plugins.slots: memory
session: agentToAgent dmScope identityLinks idleMinutes mainKey maintenance parentForkMaxTokens reset resetByChannel
  resetByType resetTriggers scope sendPolicy store threadBindings typingIntervalSeconds typingMode
session.agentToAgent: maxPingPongTurns
session.maintenance: highWaterBytes maxDiskBytes maxEntries mode pruneAfter pruneDays resetArchiveRetention
  rotateBytes
session.reset: atHour idleMinutes mode
session.resetByChannel.*: atHour idleMinutes mode
session.resetByType: direct dm group thread
session.resetByType.direct: atHour idleMinutes mode
session.resetByType.dm: atHour idleMinutes mode
session.resetByType.group: atHour idleMinutes mode
session.resetByType.thread: atHour idleMinutes mode
session.sendPolicy: default rules
session.threadBindings: enabled ttlHours
skills: allowBundled entries install limits load
skills.entries.*: apiKey config enabled env
skills.install: nodeManager preferBrew
skills.limits: maxCandidatesPerRoot maxSkillFileBytes maxSkillsInPrompt maxSkillsLoadedPerSource maxSkillsPromptChars
skills.load: extraDirs watch watchDebounceMs
talk: apiKey interruptOnSpeech modelId outputFormat provider providers voiceAliases voiceId
talk.providers.*: * apiKey modelId outputFormat voiceAliases voiceId
tools: agentToAgent allow alsoAllow byProvider deny elevated exec fs links loopDetection media message profile sandbox
  sessions subagents web
tools.agentToAgent: allow enabled
tools.elevated: allowFrom enabled
tools.exec: applyPatch ask backgroundMs cleanupMs host node notifyOnExit notifyOnExitEmptySuccess pathPrepend
  safeBinProfiles safeBins safeBinTrustedDirs security timeoutSec
tools.exec.applyPatch: allowModels enabled workspaceOnly
tools.fs: workspaceOnly
tools.links: enabled maxLinks models scope timeoutSeconds
tools.links.scope: default rules
tools.loopDetection: criticalThreshold detectors enabled globalCircuitBreakerThreshold historySize warningThreshold
tools.loopDetection.detectors: genericRepeat knownPollNoProgress pingPong
tools.media: audio concurrency image models video
tools.media.audio: attachments baseUrl deepgram enabled headers language maxBytes maxChars models prompt
  providerOptions scope timeoutSeconds
tools.media.image: attachments baseUrl deepgram enabled headers language maxBytes maxChars models prompt
  providerOptions scope timeoutSeconds
tools.media.video: attachments baseUrl deepgram enabled headers language maxBytes maxChars models prompt
  providerOptions scope timeoutSeconds
tools.message: allowCrossContextSend broadcast crossContext
tools.message.broadcast: enabled
tools.message.crossContext: allowAcrossProviders allowWithinProvider marker
tools.message.crossContext.marker: enabled prefix suffix
tools.sandbox: tools
tools.sandbox.tools: allow alsoAllow deny
tools.sessions: visibility
tools.subagents: tools
tools.subagents.tools: allow alsoAllow deny
tools.web: fetch search
tools.web.fetch: cacheTtlMinutes enabled maxChars maxCharsCap maxRedirects timeoutSeconds userAgent
tools.web.search: apiKey cacheTtlMinutes enabled gemini grok kimi maxResults perplexity provider timeoutSeconds
ui: assistant seamColor
ui.assistant: avatar name
update: auto channel checkOnStart
update.auto: betaCheckIntervalHours enabled stableDelayHours stableJitterHours
web: enabled heartbeatSeconds reconnect
web.reconnect: factor initialMs jitter maxAttempts maxMs
wizard: lastRunAt lastRunCommand lastRunCommit lastRunMode lastRunVersion
"""
