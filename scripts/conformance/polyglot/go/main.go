// Runs the Go clients against the gateway, and prints a line of JSON for each case.
//
// The environment has the address of the gateway (CONFORMANCE_ADDRESS), the kind of the upstream
// (CONFORMANCE_KIND), a key (CONFORMANCE_KEY), a key whose budget is spent (CONFORMANCE_SPENT_KEY),
// the APIs to call, separated by commas (CONFORMANCE_APIS), and the text that the upstream says
// (CONFORMANCE_TEXT).
package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// A client is a library in one of its modes. Its methods return the errors of the library.
type client interface {
	name() string
	// The path of the Go module, from which the version is read.
	module() string
	api() string
	// Asks for a text, and returns it.
	create(ctx context.Context, at target) (string, error)
	// Asks for a text as a stream.
	stream(ctx context.Context, at target) (streamed, error)
	// Offers get_weather, answers its call, and returns the text of the second turn.
	useTool(ctx context.Context, at target) (string, error)
	// Does the same with two streams.
	streamTool(ctx context.Context, at target) (string, error)
	// Asks for structured output, and returns its JSON.
	extract(ctx context.Context, at target) (string, error)
	// Returns the HTTP status of an error of the library's own type, or 0.
	status(err error) int
}

// A counter counts the tokens of the question.
type counter interface {
	count(ctx context.Context, at target) (int, error)
}

// A lister lists the ids of the models.
type lister interface {
	listModels(ctx context.Context, at target) ([]string, error)
}

// An embedder embeds two texts in vectors of two dimensions.
type embedder interface {
	embed(ctx context.Context, at target) ([][]float32, error)
}

// A target is a model behind the gateway.
type target struct {
	// The address of the gateway, without /v1. It differs for every case.
	address string
	key     string
	model   string
}

// streamed is a stream that ended without an error.
type streamed struct {
	text string
	// How the client says that the answer ended; empty if it does not say it.
	finish string
}

type result struct {
	Client  string `json:"client"`
	Version string `json:"version"`
	API     string `json:"api"`
	Kind    string `json:"kind"`
	Case    string `json:"case"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail"`
}

func main() {
	apis := strings.Split(os.Getenv("CONFORMANCE_APIS"), ",")
	for _, each := range []client{openaiChat{}, openaiResponses{}, anthropicMessages{}, gemini{}} {
		if !slices.Contains(apis, each.api()) {
			continue
		}
		for _, testCase := range cases {
			if applies(each, testCase) {
				run(each, testCase)
			}
		}
	}
}

func run(tested client, testCase testCase) {
	kind := os.Getenv("CONFORMANCE_KIND")
	key := os.Getenv("CONFORMANCE_KEY")
	switch testCase.name {
	case "401":
		key = "sk-wrong"
	case "402":
		key = os.Getenv("CONFORMANCE_SPENT_KEY")
	}
	label := strings.Join([]string{tested.name(), tested.api(), kind, testCase.name}, ":")
	detail, err := testCase.run(context.Background(), tested, target{
		address: os.Getenv("CONFORMANCE_ADDRESS") + "/" + label,
		key:     key,
		model:   kind + "--" + testCase.scenario,
	})
	if err != nil {
		detail = describe(err)
	}
	line, _ := json.Marshal(result{
		Client:  tested.name(),
		Version: version(tested.module()),
		API:     tested.api(),
		Kind:    kind,
		Case:    testCase.name,
		OK:      err == nil,
		Detail:  detail,
	})
	os.Stdout.Write(append(line, '\n'))
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return ""
}
