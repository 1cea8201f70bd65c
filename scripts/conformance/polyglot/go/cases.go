package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A testCase returns a detail, or an error if it fails.
type testCase struct {
	name string
	// The scenario of the upstream. No model is named "missing".
	scenario string
	run      func(ctx context.Context, tested client, at target) (string, error)
}

var cases = []testCase{
	{"create", "say", create},
	{"stream", "say", stream},
	{"tools", "tool", useTool},
	{"tools-streamed", "tool", streamTool},
	{"reasoning", "think", useTool},
	{"reasoning-streamed", "think", streamTool},
	{"structured", "structured", extract},
	{"400", "refuse", expectStatus(400)},
	{"401", "say", expectStatus(401)},
	{"402", "say", expectStatus(402)},
	{"404", "missing", expectStatus(404)},
	{"429", "rate-limited", expectStatus(429)},
	{"cut", "cut", cut},
	{"count", "say", count},
	{"list", "say", listModels},
	{"embed", "embed", embed},
}

// embedKinds are the kinds of upstream that embed.
var embedKinds = []string{"google", "openai"}

// applies says whether a client and the upstream have what a case needs.
func applies(tested client, each testCase) bool {
	has := true
	switch each.name {
	case "count":
		_, has = tested.(counter)
	case "list":
		_, has = tested.(lister)
	case "embed":
		_, has = tested.(embedder)
		has = has && slices.Contains(embedKinds, os.Getenv("CONFORMANCE_KIND"))
	}
	return has
}

var greeting = os.Getenv("CONFORMANCE_TEXT")

const (
	question   = "What is the weather in Zürich?"
	toolAnswer = "The result: 21 degrees in Zürich 1."
	cityName   = "Zürich 1"

	// Longer than any client waits that retries a request twice.
	maxWait = 30 * time.Second
)

func create(ctx context.Context, tested client, at target) (string, error) {
	text, err := tested.create(ctx, at)
	return expectText(text, err, greeting)
}

func stream(ctx context.Context, tested client, at target) (string, error) {
	streamed, err := tested.stream(ctx, at)
	if _, err := expectText(streamed.text, err, greeting); err != nil {
		return "", err
	}
	if streamed.finish == "" {
		return "", errors.New("the stream has no finish reason")
	}
	return "finish: " + streamed.finish, nil
}

func useTool(ctx context.Context, tested client, at target) (string, error) {
	text, err := tested.useTool(ctx, at)
	return expectText(text, err, toolAnswer)
}

func streamTool(ctx context.Context, tested client, at target) (string, error) {
	text, err := tested.streamTool(ctx, at)
	return expectText(text, err, toolAnswer)
}

func extract(ctx context.Context, tested client, at target) (string, error) {
	text, err := tested.extract(ctx, at)
	if err != nil {
		return "", err
	}
	var city struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(text), &city); err != nil {
		return "", fmt.Errorf("%q: %w", text, err)
	}
	return expectText(city.Name, nil, cityName)
}

func expectStatus(status int) func(context.Context, client, target) (string, error) {
	return func(ctx context.Context, tested client, at target) (string, error) {
		started := time.Now()
		text, err := tested.create(ctx, at)
		if err == nil {
			return "", fmt.Errorf("no error, but the text %q", text)
		}
		if actual := tested.status(err); actual != status {
			return "", fmt.Errorf("status %d, not %d: %w", actual, status, err)
		}
		if waited := time.Since(started); waited > maxWait {
			return "", fmt.Errorf("%s until %w", waited, err)
		}
		return describe(err), nil
	}
}

func cut(ctx context.Context, tested client, at target) (string, error) {
	streamed, err := tested.stream(ctx, at)
	switch {
	case err != nil:
		return "returns " + describe(err), nil
	case streamed.finish != "" && streamed.finish != "failed":
		return "", errors.New("looks complete: " + streamed.finish)
	}
	return "no error, finish: " + streamed.finish, nil
}

func count(ctx context.Context, tested client, at target) (string, error) {
	tokens, err := tested.(counter).count(ctx, at)
	if err == nil && tokens <= 0 {
		err = fmt.Errorf("%d tokens", tokens)
	}
	return fmt.Sprintf("%d tokens", tokens), err
}

func listModels(ctx context.Context, tested client, at target) (string, error) {
	ids, err := tested.(lister).listModels(ctx, at)
	if err == nil && !slices.Contains(ids, at.model) {
		err = fmt.Errorf("%s is not among %d models", at.model, len(ids))
	}
	return fmt.Sprintf("%d models", len(ids)), err
}

func embed(ctx context.Context, tested client, at target) (string, error) {
	vectors, err := tested.(embedder).embed(ctx, at)
	return expectText(fmt.Sprint(vectors), err, "[[0.5 1] [0.5 2]]")
}

// getWeather is the tool. Its input is the JSON of a call.
func getWeather(input string) (string, error) {
	var arguments struct {
		City string `json:"city"`
	}
	err := json.Unmarshal([]byte(input), &arguments)
	return "21 degrees in " + arguments.City, err
}

func expectText(actual string, err error, expected string) (string, error) {
	if err == nil && actual != expected {
		err = fmt.Errorf("%s, not %s", strconv.Quote(actual), strconv.Quote(expected))
	}
	return "", err
}

func describe(err error) string {
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	return fmt.Sprintf("%T: %s", err, string(text[:min(len(text), 300)]))
}
